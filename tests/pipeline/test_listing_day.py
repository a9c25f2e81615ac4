"""The first day of a stock is measured against its issue price, where some source tells it."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from resources.simulated_market.world.model import PRICE_UNIT
from tests.pipeline.conftest import TODAY, House

LISTINGS = {"301704": "2025-11-05", "920012": "2026-02-10", "688043": "2026-08-18"}
GEM, STAR = "301704", "688043"
PORTAL_AWAY = {"upstream": "eastmoney", "call": "kline", "kind": "status", "args": {"code": 503}}
PORTAL_NOISE = {"upstream": "eastmoney", "call": "kline", "kind": "garbage"}
"""An answer that cannot be believed opens no breaker: the next run asks again at once."""


def bar(house: House, code: str, day: str | None = None) -> dict[str, Any]:
    (row,) = house.warehouse.rows(
        "fusion_kline_daily", where="code=? AND date=?", values=(code, day or LISTINGS[code])
    )
    return row


def issue_price(house: House, code: str) -> float:
    (security,) = (s for s in house.world.securities(house.clock.now()) if s.code == code)
    return int(house.world.bars(security, house.clock.now()).preclose[0]) / PRICE_UNIT


def told_by(house: House, row: dict[str, Any]) -> dict[str, list[str]]:
    """Columns of a row that another source than its own told."""
    if row["provenance"] is None:
        return {}
    patterns = dict(house.warehouse.query("SELECT id, pattern FROM sys_provenance"))
    found: dict[str, list[str]] = json.loads(patterns[row["provenance"]])
    return found


def portal_bars(house: House) -> int:
    return int(
        house.warehouse.query(
            "SELECT COUNT(*) FROM sys_fetch WHERE upstream='eastmoney' AND call_name='kline'"
        )[0][0]
    )


@pytest.fixture
def dates(house: House) -> list[str]:
    house.master()
    return house.run.calendar.last(320, TODAY)


@pytest.mark.soak
def test_past_listing_days_take_the_issue_price_from_the_portals_line(house: House, dates: list[str]) -> None:
    house.bars(*dates)

    for code, day in LISTINGS.items():
        row, issue = bar(house, code), issue_price(house, code)
        assert row["last_close"] == issue != row["open"]
        assert row["change_pct"] == pytest.approx((row["close"] / issue - 1) * 100, abs=1e-4)
        assert (row["src"], told_by(house, row)) == ("tdx", {"eastmoney": ["last_close"]})
        assert row["quality"] == "ok"
        second = bar(house, code, house.run.calendar.offset(day, 1))
        assert (second["last_close"], told_by(house, second)) == (row["close"], {})
    # One call per listing of the range, and none for a code that has a bar before.
    assert portal_bars(house) == len(LISTINGS)


@pytest.mark.soak
def test_the_period_of_a_listing_grows_from_the_issue_price(house: House, dates: list[str]) -> None:
    house.bars(*dates)
    house.fuse("kline_bar", *house.run.calendar.between("2025-11-03", "2025-11-28"))

    row = house.warehouse.rows(
        "fusion_kline_bar", where="code=? AND period='month' AND date='2025-11-28'", values=(GEM,)
    )[0]

    assert row["change_pct"] == pytest.approx((row["close"] / issue_price(house, GEM) - 1) * 100, abs=0.01)


def test_the_listing_day_itself_comes_from_the_quotes(house: House) -> None:
    house.at(LISTINGS[STAR])
    house.master(LISTINGS[STAR])
    house.bars(LISTINGS[STAR])
    row, issue = bar(house, STAR), issue_price(house, STAR)
    quotes = house.warehouse.rows("raw_quote", columns=("src", "last_close"), where="code='688043'")

    assert {quote["src"]: quote["last_close"] for quote in quotes} == dict.fromkeys(
        ("tdx", "tencent", "eastmoney"), issue
    )
    assert row["last_close"] == issue
    assert row["change_pct"] == pytest.approx((row["close"] / issue - 1) * 100, abs=1e-4)
    assert (row["limit_up"], row["limit_status"]) == (None, "none")
    assert portal_bars(house) == 0


def test_what_the_quotes_told_stands_when_the_day_is_asked_again(house: House) -> None:
    house.at(LISTINGS[STAR])
    house.master(LISTINGS[STAR])
    house.bars(LISTINGS[STAR])
    before = bar(house, STAR)
    house.at("2026-08-19")
    house.faults.replace([PORTAL_AWAY])

    house.bars(LISTINGS[STAR])

    assert bar(house, STAR) == before
    assert portal_bars(house) == 0


def test_without_a_source_the_reference_is_null_and_marked(house: House, dates: list[str]) -> None:
    house.faults.replace([PORTAL_AWAY])

    loaded = house.fuse("kline_daily", *dates)

    for code in LISTINGS:
        row = bar(house, code)
        assert (row["last_close"], row["change_pct"], row["amplitude_pct"]) == (None, None, None)
        assert row["quality"] == "warning"
        assert json.loads(row["quality_flags"]) == ["reference_is_known"]
        # These days have no limits, whatever the issue price was.
        assert (row["limit_up"], row["limit_status"]) == (None, "none")
    assert loaded.checks["2025-11-05"]["reference_is_known"] == 1
    assert loaded.checks["2025-11-06"]["reference_is_known"] == 0
    (said,) = {
        message
        for (message,) in house.warehouse.query(
            "SELECT message FROM sys_quality_record WHERE check_name='source_answer' AND code IS NOT NULL"
        )
    }
    assert "no issue price" in said
    house.fuse("kline_bar", *house.run.calendar.between("2025-11-03", "2025-11-28"))
    month = house.warehouse.rows(
        "fusion_kline_bar", where="code=? AND period='month' AND date='2025-11-28'", values=(GEM,)
    )[0]
    assert (month["change_pct"], month["bar_count"]) == (None, 18)


def test_the_issue_price_comes_in_when_the_portal_is_back(house: House, dates: list[str]) -> None:
    days = house.run.calendar.between("2025-11-04", "2025-11-06")
    house.faults.replace([PORTAL_NOISE])
    house.fuse("kline_daily", *days)
    house.faults.clear()
    house.fresh()

    results = house.fuse("kline_daily", *days).results

    assert [result.rows_written for result in results] == [0, 1, 0]
    assert bar(house, GEM)["last_close"] == issue_price(house, GEM)
    assert bar(house, GEM)["quality"] == "ok"


@pytest.mark.soak
def test_an_open_that_once_stood_in_is_replaced(house: House, dates: list[str]) -> None:
    days = house.run.calendar.between("2025-11-04", "2025-11-06")
    house.fuse("kline_daily", *days)
    with house.warehouse.engine.begin() as connection:
        connection.execute(
            text("UPDATE fusion_kline_daily SET last_close=open WHERE code=:code AND date=:day"),
            {"code": GEM, "day": LISTINGS[GEM]},
        )
    house.faults.replace([PORTAL_NOISE])
    house.fresh()
    house.fuse("kline_daily", *days)
    unknown = bar(house, GEM)["last_close"]
    house.faults.clear()
    house.fresh()
    house.fuse("kline_daily", *days)

    assert unknown is None
    assert bar(house, GEM)["last_close"] == issue_price(house, GEM)


def test_a_line_of_another_instrument_gives_no_issue_price(house: House, dates: list[str]) -> None:
    house.faults.replace(
        [
            {
                "upstream": "eastmoney",
                "call": "kline",
                "kind": "override_bar",
                "args": {"code": GEM, "date": 20251105, "close": 60.0},
            }
        ]
    )

    house.fuse("kline_daily", *house.run.calendar.between("2025-11-04", "2025-11-06"))

    assert bar(house, GEM)["last_close"] is None


def test_the_first_source_alone_asks_nobody_else(house: House, dates: list[str]) -> None:
    house.run.desk.direct = True

    house.fuse("kline_daily", *house.run.calendar.between("2025-11-04", "2025-11-06"))

    assert bar(house, GEM)["last_close"] is None
    assert portal_bars(house) == 0


def test_the_portal_in_the_terminals_place_tells_it_with_its_own_bars(house: House, dates: list[str]) -> None:
    house.faults.replace([{"upstream": "tdx", "call": "bars*", "kind": "truncate"}])

    house.fuse("kline_daily", *house.run.calendar.between("2025-11-04", "2025-11-06"))

    row = bar(house, GEM)
    assert (row["src"], row["last_close"]) == ("eastmoney", issue_price(house, GEM))
