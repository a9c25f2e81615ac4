"""Leaders from pools to the routes: scores, what became of them, and what a later load leaves alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api.areas.handmade import Handmade, handmade

DATES = shipped_calendar().last(8, "2026-08-21")
BEFORE, DAY = DATES[0], DATES[1]
LEADER, FOLLOWER, LEFT = "600001", "600002", "600003"
CLOSES = {
    LEADER: [11.0, 12.1, 13.31, 13.0, 12.5, 12.0, 14.52, 15.0],
    FOLLOWER: [10.0, 11.0, 10.45, 10.0, 10.0, 10.0, 9.9, 9.0],
    LEFT: [22.0, 21.0, 21.0, 21.0, 21.0, 21.0, 21.0, 21.0],
}


def pool(day: str, kind: str, code: str, **more: Any) -> dict[str, Any]:
    reported = {"amount": 5e8, "float_market_cap": 1e6, "turnover_pct": 10.0, "industry": "机械"}
    return {
        "trade_date": day,
        "pool": kind,
        "code": code,
        "name": f"名{code}",
        "price": 10.0,
        **reported,
        **more,
    }


POOLS = [
    pool(BEFORE, "up", LEADER, limit_days=1, first_seal_time="09:25:00", seal_fund=1e8, break_times=0),
    pool(BEFORE, "up", LEFT, limit_days=1, first_seal_time="10:00:00", seal_fund=1e8, break_times=0),
    pool(DAY, "up", LEADER, limit_days=2, first_seal_time="09:25:00", seal_fund=3e8, break_times=0,
         zt_stat="2天2板"),
    pool(DAY, "up", FOLLOWER, limit_days=1, first_seal_time="13:30:00", seal_fund=3e7, break_times=2,
         amount=2e8),
    pool(DAY, "broken", LEFT, break_times=3),
    pool(DAY, "prev", LEFT, turnover_pct=12.0),
]  # fmt: skip


def fill(market: Handmade) -> None:
    market.put("raw_limit_pool", POOLS)
    market.put(
        "fusion_stock_industry",
        [{"code": code, "name": "名", "concepts": '["机器人"]'} for code in (LEADER, FOLLOWER)],
    )
    market.put(
        "fusion_kline_daily",
        [
            {"code": code, "date": day, "market": "SH", "sec_type": "stock", "open": close, "high": close,
             "low": close, "close": close, "volume": 100, "amount": 1e6, "adj_factor": 1.0,
             "change_pct": 1.0}
            for code, closes in CLOSES.items()
            for day, close in zip(DATES, closes, strict=True)
        ],
    )  # fmt: skip
    market.put(
        "fusion_stock_wide",
        [
            {"code": LEADER, "trade_date": DAY, "name": "名", "limit_up_count_20d": 5,
             "break_fail_days_5d": 0},
        ],
    )  # fmt: skip
    market.put(
        "fusion_dragon_tiger",
        [
            {"code": LEADER, "date": DAY, "reason_key": "a", "reason": "日涨幅偏离", "net_buy": 5000.0,
             "amount": 5e8, "is_multi_day": False},
            {"code": FOLLOWER, "date": DAY, "reason_key": "b", "reason": "连续三个交易日", "net_buy": 9000.0,
             "amount": 9e8, "is_multi_day": True},
        ],
    )  # fmt: skip
    market.put(
        "raw_limitup_reason",
        [{"trade_date": DAY, "code": LEADER, "name": "名", "reason": "机器人+减速器"}],
    )
    market.put(
        "fusion_index_daily",
        [
            {"code": "sh000001", "date": day, "name": "上证指数", "close": 3000.0, "change_pct": 1.0}
            for day in DATES
        ],
    )


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    """Scored in the evening of `DAY`; one load on each evening after, up to the fifth."""
    folder: Path = tmp_path_factory.mktemp("dragon")
    for url in engine_url(request.param, folder, "tests.serving_api.areas"):
        with handmade(url, folder, DAY) as made:
            fill(made)
            made.calculate("dragon_score", DAY)
            yield made


def of(market: Handmade, code: str) -> dict[str, Any]:
    return next(
        row for row in market.rows("calc_dragon_score") if (row["trade_date"], row["code"]) == (DAY, code)
    )


def test_the_evening_of_the_date(market: Handmade) -> None:
    reported = market.reported("/market/dragon-score")

    assert (reported["date"], reported["total"]) == (DAY, 3)
    first, second, third = reported["items"]
    assert [row["code"] for row in reported["items"]] == [LEADER, FOLLOWER, LEFT]
    assert (first["scores"]["height"], first["scores"]["seal"]) == (20 * 2 / 5, 20)
    # Two limit-ups in its theme, the longest streak of it, and the first to be sealed.
    assert (first["theme"], first["scores"]["theme"]) == ("机器人", 2 + 6 + 6)
    assert first["scores"]["capital"] == 8 + 6 * 2.5 / 3 + 6
    assert (first["scores"]["structure"], first["coverage"]) == (20, 1)
    assert first["grade"] == "S"
    assert (first["reason"], first["price"], first["limit_days"]) == ("机器人+减速器", 12.1, 2)
    # Not listed for this date alone, and unknown to the wide table: these parts are not judged.
    assert second["coverage"] == pytest.approx(1 - (8 + 12) / 100)
    for one in reported["items"]:  # each total follows from its parts
        assert one["total_score"] == pytest.approx(sum(one["scores"].values()), abs=0.03)
    assert second["reason"] is None
    assert (third["limit_days"], third["scores"]["seal"], third["grade"]) == (0, 0, "C")
    assert of(market, LEFT)["break_times"] == 3
    assert {row["review_status"] for row in market.rows("calc_dragon_score")} == {"pending"}
    assert market.reported("/market/dragon-score", min_score=60)["total"] == 1
    assert [row["rank"] for row in market.reported("/market/dragon-score", limit=1)["items"]] == [1]
    assert market.reported("/market/dragon-score", date=BEFORE)["items"] == []


def test_an_evening_before_the_next_close_may_still_correct(market: Handmade) -> None:
    market.put("raw_limit_pool", [pool(DAY, "up", FOLLOWER, limit_days=1, seal_fund=6e7, amount=2e8)])
    market.calculate("dragon_score", DAY)
    assert of(market, FOLLOWER)["seal_fund"] == 6e7


def test_reviews_are_filled_evening_by_evening_and_follow_the_bars(market: Handmade) -> None:
    score = of(market, LEADER)["total_score"]
    market.put("raw_limit_pool", [pool(DAY, "up", LEADER, limit_days=9, seal_fund=1.0)])
    status = {}
    for at, day in enumerate(DATES[2:7], start=1):
        market.at(day)
        market.calculate("dragon_score", day)
        row = of(market, LEADER)
        status[at] = (
            row["review_status"],
            row["next_change_pct"],
            row["d3_change_pct"],
            row["d5_change_pct"],
        )

    assert status[1] == ("partial", 10.0, None, None)
    assert status[3] == ("partial", 10.0, pytest.approx(3.3058), None)
    assert status[5] == ("reviewed", 10.0, pytest.approx(3.3058), 20.0)
    # A pool that is told otherwise later changes the score no more; a bar that is corrected changes what
    # came of it.
    bar = next(
        row for row in market.rows("fusion_kline_daily") if (row["code"], row["date"]) == (LEADER, DATES[6])
    )
    market.at(DATES[7])
    for close, change in ((20.0, pytest.approx(65.2893)), (bar["close"], 20.0)):
        market.put("fusion_kline_daily", [{**bar, "close": close}])
        market.calculate("dragon_score", DAY)
        assert of(market, LEADER)["d5_change_pct"] == change
        assert of(market, LEADER)["total_score"] == score


def test_the_review_and_its_curve(market: Handmade) -> None:
    review = market.reported("/market/dragon-review", days=8)

    # Five trade dates later the leader stood 20 % higher, the follower 10 % lower, the third unchanged.
    stats = review["stats"]
    assert (stats["picks"], stats["reviewed"]) == (3, 3)
    assert stats["win_rate_pct"] == pytest.approx(100 / 3, abs=1e-4)
    assert stats["avg_next_pct"] == pytest.approx(5 / 3, abs=1e-4)
    assert stats["avg_d3_pct"] == pytest.approx((3.3058 - 9.0909) / 3, abs=1e-3)
    assert stats["avg_d5_pct"] == pytest.approx(10 / 3, abs=1e-4)
    assert review["by_grade"][0]["grade"] == "S"
    assert [row["code"] for row in review["items"]] == [LEADER, FOLLOWER, LEFT]
    assert review["items"][0]["status"] == "reviewed"
    assert market.reported("/market/dragon-review", days=8, min_score=60)["stats"]["picks"] == 1
    curve = market.reported("/market/dragon-review-curve", days=8)
    (only,) = curve["items"]
    assert (only["date"], only["picks"], only["index_cum_pct"]) == (DAY, 3, 1.0)
    assert only["cum_pct"] == only["avg_next_pct"] == pytest.approx(5 / 3, abs=1e-4)
    assert curve["max_drawdown_pct"] == 0


def test_the_history_of_a_code_and_the_catalog(market: Handmade) -> None:
    history = market.reported("/market/dragon-score-history", code=LEADER)

    assert (history["code"], [row["date"] for row in history["items"]]) == (LEADER, [DAY])
    assert history["items"][0]["next_change_pct"] == 10.0
    assert market.reported("/market/dragon-score-history", code="600999")["items"] == []
    assert [row["code"] for row in market.call("get_dragon_score", limit=2)] == [LEADER, FOLLOWER]
    assert len(market.call("get_dragon_score_history", code=LEADER)) == 1


def test_answers_about_the_past_say_how_far_back_they_reach(market: Handmade) -> None:
    history = market.reported("/market/dragon-score-history", code=LEADER)
    nobody = market.reported("/market/dragon-score-history", code="600999")
    assert (history["first_date"], history["note"]) == (DAY, None)
    assert (nobody["first_date"], nobody["note"]) == (None, "nothing is stored yet")
    for path in ("dragon-review", "dragon-review-curve"):
        whole, cut = (market.reported(f"/market/{path}", days=days) for days in (5, 100))
        assert (whole["first_date"], whole["note"]) == (DAY, None)
        assert cut["note"].endswith(f"of 100 trade dates are stored; the first stored date is {DAY}")
    board, early = (
        market.reported("/market/dragon-score"),
        market.reported("/market/dragon-score", date="2026-08-03"),
    )
    assert (board["first_date"], board["note"]) == (DAY, None)
    assert early["note"] == f"nothing is stored of 2026-08-03; the first stored date is {DAY}"


def test_bad_parameters_are_named(market: Handmade) -> None:
    assert "date" in market.refused("/market/dragon-score", date="2026-08-16")
    assert "limit" in market.refused("/market/dragon-score", limit=201)
    assert "min_score" in market.refused("/market/dragon-score", min_score=101)
    assert "code" in market.refused("/market/dragon-score-history")
    assert "code" in market.refused("/market/dragon-score-history", code="x")
    assert "days" in market.refused("/market/dragon-review", days=0)
    assert "days" in market.refused("/market/dragon-review-curve", days=4)
