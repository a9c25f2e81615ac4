"""The emotion cycle where a side is missing: without bars, without anything, with a gap in what was told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from core.errors import QualityError
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api.areas.handmade import Handmade, handmade

DATES = shipped_calendar().last(6, "2026-08-21")


def pool(day: str, kind: str, code: str, name: str = "名", **more: Any) -> dict[str, Any]:
    return {"trade_date": day, "pool": kind, "code": code, "name": name, "price": 10.0, **more}


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    folder: Path = tmp_path_factory.mktemp("phase")
    for url in engine_url(request.param, folder, "tests.serving_api.areas"):
        with handmade(url, folder, DATES[-1]) as made:
            yield made


def bar(day: str, code: str) -> dict[str, Any]:
    """A close at the limit."""
    return {
        "code": code, "date": day, "market": "SH", "sec_type": "stock", "open": 10.0, "high": 11.0,
        "low": 9.5, "close": 11.0, "limit_up": 11.0, "limit_down": 9.0, "change_pct": 10.0,
        "volume": 100, "amount": 1e6,
    }  # fmt: skip


def bars(market: Handmade, *dates: str) -> None:
    """Two stocks; one closes at its limit on each date."""
    falls = {"close": 9.8, "high": 10.0, "change_pct": -2.0}
    rows = [one for day in dates for one in (bar(day, "600001"), {**bar(day, "600002"), **falls})]
    market.put("fusion_kline_daily", rows)


def test_the_whole_way_without_bars_and_across_a_gap(market: Handmade) -> None:
    assert market.reported("/market/regime")["phase"] is None
    with pytest.raises(QualityError, match="nothing is stored of"):
        market.calculate("market_phase", DATES[0])
    assert market.reported("/market/phase-history")["total"] == 0  # nothing is known, so nothing is told

    # Pools alone: everything but the breadth. Stocks under special treatment do not count.
    market.put(
        "raw_limit_pool",
        [
            pool(DATES[0], "up", "600001", limit_days=2),
            pool(DATES[0], "up", "600003", limit_days=1),
            pool(DATES[1], "up", "600001", limit_days=3),
            pool(DATES[1], "up", "600009", "*ST名", limit_days=9),
            pool(DATES[1], "broken", "600003"),
            pool(DATES[1], "prev", "600001", change_pct=10.0),
            pool(DATES[1], "prev", "600003", change_pct=2.0),
        ],
    )
    for name in ("limit_count", "market_phase"):
        market.calculate(name, DATES[1])
    (row,) = market.rows("calc_market_phase")
    assert row["confidence"] == pytest.approx(0.9)
    assert (row["limit_up_count"], row["broken_count"], row["max_limit_days"]) == (1, 1, 3)
    assert (row["promotion_rate_pct"], row["prev_limit_up_avg_pct"], row["up_count"]) == (50, 6, None)
    (counts,) = market.reported("/market/limit-count-history")["items"]
    assert (counts["limit_up_recomputed"], counts["limit_up_official"], counts["match"]) == (None, 2, None)

    # Two dates are left out; the one after them sees their bars, and goes on from what was told before.
    bars(market, *DATES[2:])
    market.calculate("market_phase", DATES[4])
    assert [row["trade_date"] for row in market.rows("calc_market_phase")] == [DATES[1], DATES[4]]
    newest = market.reported("/market/regime")
    reported = {one["key"]: one["value"] for one in newest["evidence"]}
    assert (reported["limit_up"], reported["max_boards"], reported["promotion_rate"]) == (1, 3, 1)
    assert (reported["advance_share"], newest["confidence"]) == (0.5, 1)
    # A date that is filled in later agrees with what the later one saw of it.
    market.calculate("market_phase", DATES[2], DATES[3])
    again = market.calculate("market_phase", DATES[4])
    assert sum(one.rows_written for one in again.results) <= 1  # its run of days at most
    assert market.reported("/market/regime")["score"] == newest["score"]


def test_a_range_and_single_dates_count_the_same_streak(market: Handmade) -> None:
    dates = shipped_calendar().last(45, "2025-08-20")
    bars(market, *dates)
    market.calculate("limit_count", *dates)

    counts = {row["trade_date"]: row for row in market.rows("calc_limit_count")}
    assert [counts[day]["max_limit_days"] for day in dates] == [min(at, 31) for at in range(1, 46)]
    for day in dates[-3:]:
        assert sum(one.rows_written for one in market.calculate("limit_count", day).results) == 0


def test_a_few_downloaded_codes_are_no_market(market: Handmade) -> None:
    """Six stocks trade; on the last date one bar was downloaded before the market's, and the pool tells."""
    dates = shipped_calendar().last(25, "2025-03-14")
    six = [f"60000{number}" for number in range(1, 7)]
    for day in dates[:-1]:
        market.put("fusion_kline_daily", [bar(day, code) for code in six])
    market.put("fusion_kline_daily", [bar(dates[-1], six[0])])
    market.put("raw_limit_pool", [pool(dates[-1], "up", code, limit_days=25) for code in six])
    for name in ("limit_count", "market_phase"):
        market.calculate(name, *dates)

    (count,) = [row for row in market.rows("calc_limit_count") if row["trade_date"] == dates[-1]]
    assert (count["up_recomputed"], count["up_official"], count["diff_note"]) == (None, 6, None)
    phase = {row["trade_date"]: row for row in market.rows("calc_market_phase")}
    assert phase[dates[-2]]["promotion_rate_pct"] == 100
    newest = phase[dates[-1]]
    assert (newest["limit_up_count"], newest["up_count"], newest["amount"]) == (6, None, None)


def test_bars_that_come_late_complete_the_dates_after(market: Handmade) -> None:
    dates = shipped_calendar().last(25, "2024-03-15")
    late = dates[21]
    bars(market, *(day for day in dates[:-1] if day != late))
    market.put("raw_limit_pool", [pool(late, "up", "600001", limit_days=22)])
    market.calculate("market_phase", *dates[:22])
    reported = {row["trade_date"]: row for row in market.rows("calc_market_phase")}[late]
    assert (reported["limit_up_count"], reported["amount"], reported["up_count"]) == (1, None, None)

    bars(market, late)
    market.calculate("market_phase", dates[22])

    rows = {row["trade_date"]: row for row in market.rows("calc_market_phase")}
    assert rows[dates[22]]["amount_ratio_20d"] == 1
    assert rows[late] == reported  # its own evening is not told anew
    market.calculate("market_phase", late)
    again = {row["trade_date"]: row for row in market.rows("calc_market_phase")}[late]
    assert (again["amount"], again["up_count"], again["amount_ratio_20d"]) == (2e6, 1, 1)


def test_codes_that_one_side_alone_has_are_named(market: Handmade) -> None:
    bars(market, DATES[-1])
    market.put("raw_limit_pool", [pool(DATES[-1], "up", "600008"), pool(DATES[-1], "down", "600007")])
    market.calculate("limit_count", DATES[-1])

    (row,) = market.reported("/market/limit-count-history", days=1)["items"]

    # The counts of limit-ups are equal and are of different stocks: the note tells.
    assert (row["limit_up_recomputed"], row["limit_up_official"], row["match"]) == (1, 1, False)
    assert row["diff_note"] == (
        "up: bars alone 1 (600001); up: pool alone 1 (600008); down: pool alone 1 (600007)"
    )
