"""The first day of a stock is measured against its issue price, where some source has it."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from resources.warehouse.stored import ANY
from simulated_market.world.model import PRICE_UNIT
from tests.pipeline.conftest import TODAY, Services

LISTINGS = {"301704": "2025-11-05", "920012": "2026-02-10", "688043": "2026-08-18"}
GEM, STAR = "301704", "688043"
PORTAL_AWAY = {"upstream": "eastmoney", "call": "kline", "kind": "status", "args": {"code": 503}}
PORTAL_NOISE = {"upstream": "eastmoney", "call": "kline", "kind": "garbage"}
"""A refused answer opens no breaker: the next run asks again at once."""


def bar(services: Services, code: str, day: str | None = None) -> dict[str, Any]:
    (row,) = services.warehouse.rows(
        "fusion_kline_daily", ANY.code == code, ANY.date == (day or LISTINGS[code])
    )
    return row


def issue_price(services: Services, code: str) -> float:
    (security,) = (s for s in services.world.securities(services.clock.now()) if s.code == code)
    return int(services.world.bars(security, services.clock.now()).preclose[0]) / PRICE_UNIT


def from_others(services: Services, row: dict[str, Any]) -> dict[str, list[str]]:
    """Columns of a row that came from another source than its own."""
    if row["provenance"] is None:
        return {}
    patterns = dict(services.warehouse.query("SELECT id, pattern FROM sys_provenance"))
    found: dict[str, list[str]] = json.loads(patterns[row["provenance"]])
    return found


def portal_bars(services: Services) -> int:
    return int(
        services.warehouse.query(
            "SELECT COUNT(*) FROM sys_fetch WHERE upstream='eastmoney' AND call_name='kline'"
        )[0][0]
    )


@pytest.fixture
def dates(services: Services) -> list[str]:
    services.master()
    return services.run.calendar.last(320, TODAY)


@pytest.mark.soak
def test_past_listing_days_take_the_issue_price_from_the_portals_line(
    services: Services, dates: list[str]
) -> None:
    services.bars(*dates)

    for code, day in LISTINGS.items():
        row, issue = bar(services, code), issue_price(services, code)
        assert row["last_close"] == issue != row["open"]
        assert row["change_pct"] == pytest.approx((row["close"] / issue - 1) * 100, abs=1e-4)
        assert (row["src"], from_others(services, row)) == ("tdx", {"eastmoney": ["last_close"]})
        assert row["quality"] == "ok"
        second = bar(services, code, services.run.calendar.offset(day, 1))
        assert (second["last_close"], from_others(services, second)) == (row["close"], {})
    # One call per listing of the range, and none for a code that has a bar before.
    assert portal_bars(services) == len(LISTINGS)


@pytest.mark.soak
def test_the_period_of_a_listing_grows_from_the_issue_price(services: Services, dates: list[str]) -> None:
    services.bars(*dates)
    services.fuse("kline_bar", *services.run.calendar.between("2025-11-03", "2025-11-28"))

    row = services.warehouse.rows(
        "fusion_kline_bar", ANY.code == GEM, ANY.period == "month", ANY.date == "2025-11-28"
    )[0]

    assert row["change_pct"] == pytest.approx((row["close"] / issue_price(services, GEM) - 1) * 100, abs=0.01)


def test_the_listing_day_itself_comes_from_the_quotes(services: Services) -> None:
    services.at(LISTINGS[STAR])
    services.master(LISTINGS[STAR])
    services.bars(LISTINGS[STAR])
    row, issue = bar(services, STAR), issue_price(services, STAR)
    quotes = services.warehouse.rows("raw_quote", ANY.code == "688043", columns=("src", "last_close"))

    assert {quote["src"]: quote["last_close"] for quote in quotes} == dict.fromkeys(
        ("tdx", "tencent", "eastmoney"), issue
    )
    assert row["last_close"] == issue
    assert row["change_pct"] == pytest.approx((row["close"] / issue - 1) * 100, abs=1e-4)
    assert (row["limit_up"], row["limit_status"]) == (None, "no_limit")
    assert portal_bars(services) == 0


def test_values_of_the_quotes_stay_when_the_day_is_asked_again(services: Services) -> None:
    services.at(LISTINGS[STAR])
    services.master(LISTINGS[STAR])
    services.bars(LISTINGS[STAR])
    before = bar(services, STAR)
    services.at("2026-08-19")
    services.faults.replace([PORTAL_AWAY])

    services.bars(LISTINGS[STAR])

    assert bar(services, STAR) == before
    assert portal_bars(services) == 0


def test_without_a_source_the_reference_is_null_and_marked(services: Services, dates: list[str]) -> None:
    services.faults.replace([PORTAL_AWAY])

    loaded = services.fuse("kline_daily", *dates)

    for code in LISTINGS:
        row = bar(services, code)
        assert (row["last_close"], row["change_pct"], row["amplitude_pct"]) == (None, None, None)
        assert row["quality"] == "warning"
        assert json.loads(row["quality_flags"]) == ["reference_is_known"]
        # These days have no limits, whatever the issue price was.
        assert (row["limit_up"], row["limit_status"]) == (None, "no_limit")
    assert loaded.checks["2025-11-05"]["reference_is_known"] == 1
    assert loaded.checks["2025-11-06"]["reference_is_known"] == 0
    (said,) = {
        message
        for (message,) in services.warehouse.query(
            "SELECT message FROM sys_quality_record WHERE check_name='source_answer' AND code IS NOT NULL"
        )
    }
    assert "no issue price" in said
    services.fuse("kline_bar", *services.run.calendar.between("2025-11-03", "2025-11-28"))
    month = services.warehouse.rows(
        "fusion_kline_bar", ANY.code == GEM, ANY.period == "month", ANY.date == "2025-11-28"
    )[0]
    assert (month["change_pct"], month["bar_count"]) == (None, 18)


def test_the_issue_price_comes_in_when_the_portal_is_back(services: Services, dates: list[str]) -> None:
    days = services.run.calendar.between("2025-11-04", "2025-11-06")
    services.faults.replace([PORTAL_NOISE])
    services.fuse("kline_daily", *days)
    services.faults.clear()
    services.fresh()

    results = services.fuse("kline_daily", *days).results

    assert [result.rows_written for result in results] == [0, 1, 0]
    assert bar(services, GEM)["last_close"] == issue_price(services, GEM)
    assert bar(services, GEM)["quality"] == "ok"


@pytest.mark.soak
def test_an_open_that_once_stood_in_is_replaced(services: Services, dates: list[str]) -> None:
    days = services.run.calendar.between("2025-11-04", "2025-11-06")
    services.fuse("kline_daily", *days)
    with services.warehouse.engine.begin() as connection:
        connection.execute(
            text("UPDATE fusion_kline_daily SET last_close=open WHERE code=:code AND date=:day"),
            {"code": GEM, "day": LISTINGS[GEM]},
        )
    services.faults.replace([PORTAL_NOISE])
    services.fresh()
    services.fuse("kline_daily", *days)
    unknown = bar(services, GEM)["last_close"]
    services.faults.clear()
    services.fresh()
    services.fuse("kline_daily", *days)

    assert unknown is None
    assert bar(services, GEM)["last_close"] == issue_price(services, GEM)


def test_a_line_of_another_instrument_gives_no_issue_price(services: Services, dates: list[str]) -> None:
    services.faults.replace(
        [
            {
                "upstream": "eastmoney",
                "call": "kline",
                "kind": "override_bar",
                "args": {"code": GEM, "date": 20251105, "close": 60.0},
            }
        ]
    )

    services.fuse("kline_daily", *services.run.calendar.between("2025-11-04", "2025-11-06"))

    assert bar(services, GEM)["last_close"] is None


def test_the_first_source_alone_asks_nobody_else(services: Services, dates: list[str]) -> None:
    services.run.ctx.direct = True

    services.fuse("kline_daily", *services.run.calendar.between("2025-11-04", "2025-11-06"))

    assert bar(services, GEM)["last_close"] is None
    assert portal_bars(services) == 0


def test_the_portals_line_tells_it_to_the_quote_site_in_the_terminals_place(
    services: Services, dates: list[str]
) -> None:
    services.faults.replace([{"upstream": "tdx", "call": "bars*", "kind": "truncate"}])

    services.fuse("kline_daily", *services.run.calendar.between("2025-11-04", "2025-11-06"))

    row = bar(services, GEM)
    assert (row["src"], row["last_close"]) == ("tencent", issue_price(services, GEM))
