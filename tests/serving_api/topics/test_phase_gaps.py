"""The emotion cycle where a side is missing: without bars, without anything, with a gap in what was told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.calendar import shipped_calendar
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api.topics.handmade import Handmade, handmade

DATES = shipped_calendar().last(6, "2026-08-21")


def pool(day: str, kind: str, code: str, name: str = "名", **more: Any) -> dict[str, Any]:
    return {"trade_date": day, "pool": kind, "code": code, "name": name, "price": 10.0, **more}


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    folder: Path = tmp_path_factory.mktemp("phase")
    for url in engine_url(request.param, folder, "tests.serving_api.topics"):
        with handmade(url, folder, DATES[-1]) as made:
            yield made


def bars(market: Handmade, *dates: str) -> None:
    """Two stocks; one closes at its limit on each date."""
    market.put(
        "fusion_kline_daily",
        [
            {"code": code, "date": day, "market": "SH", "sec_type": "stock", "open": 10.0, "high": high,
             "low": 9.5, "close": close, "limit_up": 11.0, "limit_down": 9.0, "change_pct": change,
             "volume": 100, "amount": 1e6}
            for day in dates
            for code, close, high, change in (("600001", 11.0, 11.0, 10.0), ("600002", 9.8, 10.0, -2.0))
        ],
    )  # fmt: skip


def test_the_whole_way_without_bars_and_across_a_gap(market: Handmade) -> None:
    assert market.told("/market/regime")["phase"] is None
    market.calculate("market_phase", DATES[0])
    assert market.told("/market/phase-history")["total"] == 0  # nothing is known, so nothing is told

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
    (counts,) = market.told("/market/limit-count-history")["items"]
    assert (counts["limit_up_recomputed"], counts["limit_up_official"], counts["match"]) == (None, 2, None)

    # Two dates are left out; the one after them sees their bars, and goes on from what was told before.
    bars(market, *DATES[2:])
    market.calculate("market_phase", DATES[4])
    assert [row["trade_date"] for row in market.rows("calc_market_phase")] == [DATES[1], DATES[4]]
    newest = market.told("/market/regime")
    told = {one["key"]: one["value"] for one in newest["evidence"]}
    assert (told["limit_up"], told["max_boards"], told["promotion_rate"]) == (1, 3, 1)
    assert (told["advance_share"], newest["confidence"]) == (0.5, 1)
    # A date that is filled in later agrees with what the later one saw of it.
    market.calculate("market_phase", DATES[2], DATES[3])
    again = market.calculate("market_phase", DATES[4])
    assert sum(one.rows_written for one in again.results) <= 1  # its run of days at most
    assert market.told("/market/regime")["score"] == newest["score"]


def test_codes_that_one_side_alone_has_are_named(market: Handmade) -> None:
    bars(market, DATES[-1])
    market.put("raw_limit_pool", [pool(DATES[-1], "up", "600008"), pool(DATES[-1], "down", "600007")])
    market.calculate("limit_count", DATES[-1])

    (row,) = market.told("/market/limit-count-history", days=1)["items"]

    # The counts of limit-ups are equal and are of different stocks: the note tells.
    assert (row["limit_up_recomputed"], row["limit_up_official"], row["match"]) == (1, 1, False)
    assert row["diff_note"] == (
        "up: bars alone 1 (600001); up: pool alone 1 (600008); down: pool alone 1 (600007)"
    )
