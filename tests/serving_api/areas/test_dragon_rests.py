"""Leaders that rest after they were scored, and evenings on which the market's bars are late."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api.areas.handmade import Handmade, handmade
from tests.serving_api.areas.test_dragon import pool

DATES = shipped_calendar().last(22, "2026-08-21")
DAY = DATES[0]
TRADES, RESTS, GONE = "600001", "600002", "600003"
OTHERS = [f"60010{number}" for number in range(9)]


def bar(code: str, day: str, close: float) -> dict[str, Any]:
    return {
        "code": code, "date": day, "market": "SH", "sec_type": "stock", "open": close, "high": close,
        "low": close, "close": close, "volume": 100, "amount": 1e6, "adj_factor": 1.0, "change_pct": 1.0,
    }  # fmt: skip


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    """Three leaders on `DAY`: one trades on, one for a date more, one never again."""
    folder: Path = tmp_path_factory.mktemp("dragon_rests")
    for url in engine_url(request.param, folder, "tests.serving_api.areas"):
        with handmade(url, folder, DAY) as made:
            made.put(
                "raw_limit_pool", [pool(DAY, "up", code, limit_days=1) for code in (TRADES, RESTS, GONE)]
            )
            bars = [bar(code, DAY, 10.0) for code in (RESTS, GONE)] + [bar(RESTS, DATES[1], 11.0)]
            bars += [bar(TRADES, day, 10.0 + at) for at, day in enumerate(DATES)]
            bars += [bar(code, day, 10.0) for code in OTHERS for day in DATES if day != DATES[5]]
            made.put("fusion_kline_daily", bars)
            made.put(
                "fusion_index_daily",
                [
                    {"code": "sh000001", "date": day, "name": "上证指数", "close": 3000.0, "change_pct": 1.0}
                    for day in DATES
                    if day != DATES[3]
                ],
            )
            made.calculate("dragon_score", DAY)
            yield made


def evening(market: Handmade, at: int) -> dict[str, dict[str, Any]]:
    market.at(DATES[at])
    market.calculate("dragon_score", DATES[at])
    return {row["code"]: row for row in market.rows("calc_dragon_score") if row["trade_date"] == DAY}


def reported(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("review_status", "next_change_pct", "d3_change_pct", "d5_change_pct"))


def test_a_rest_does_not_keep_a_leader_open_and_a_late_load_does(market: Handmade) -> None:
    # The market's bars of the fifth date are missing: only one code was downloaded.
    rows = evening(market, 5)
    assert reported(rows[TRADES]) == ("reviewed", 10, 30, 50)
    assert reported(rows[RESTS]) == ("partial", 10, 10, None)
    assert reported(rows[GONE]) == ("partial", None, None, None)

    market.put("fusion_kline_daily", [bar(code, DATES[5], 10.0) for code in OTHERS])
    rows = evening(market, 6)
    assert reported(rows[RESTS]) == ("reviewed", 10, 10, 10)
    assert rows[GONE]["review_status"] == "partial"
    stats = market.reported("/market/dragon-review", days=22)["stats"]
    assert (stats["picks"], stats["reviewed"], stats["win_rate_pct"], stats["avg_d5_pct"]) == (3, 2, 100, 30)


def test_a_leader_that_never_trades_again_is_reviewed_and_did_not_win(market: Handmade) -> None:
    assert reported(evening(market, 20)[GONE]) == ("reviewed", None, None, None)

    review = market.reported("/market/dragon-review", days=22)

    stats = review["stats"]
    assert (stats["picks"], stats["reviewed"], stats["avg_d5_pct"]) == (3, 3, 30)
    assert stats["win_rate_pct"] == pytest.approx(200 / 3, abs=1e-4)
    assert sum(one["picks"] for one in review["by_grade"]) == 3


def test_the_review_is_read_by_pages(market: Handmade) -> None:
    whole = market.reported("/market/dragon-review", days=22)
    pages = [market.reported("/market/dragon-review", days=22, page=page, page_size=2) for page in (1, 2, 3)]

    assert [len(one["items"]) for one in pages] == [2, 1, 0]
    assert pages[0]["items"] + pages[1]["items"] == whole["items"]
    assert all(one["stats"] == whole["stats"] and one["total"] == 3 for one in pages)
    assert (pages[1]["page"], pages[1]["page_size"], whole["page_size"]) == (2, 2, 50)
    assert "page_size" in market.refused("/market/dragon-review", page_size=201)


def test_the_curve_of_the_index_ends_where_the_index_is_not_known(market: Handmade) -> None:
    for at in (1, 2, 3):  # a leader a date; the index of the fourth date is missing
        market.put("raw_limit_pool", [pool(DATES[at], "up", TRADES, limit_days=at + 1)])
        market.at(DATES[at])
        market.calculate("dragon_score", DATES[at])
    evening(market, 20)

    items = market.reported("/market/dragon-review-curve", days=22)["items"]

    assert [one["date"] for one in items] == list(DATES[:4])
    assert [one["index_cum_pct"] for one in items] == [1.0, 2.01, None, None]
    assert all(one["cum_pct"] > 0 for one in items)
