"""Calculations over market days, from rows written by hand: rotation of industries, bands, index series."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from platform_assets.datasets.valuation_band import week_ends
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api.areas.handmade import Handmade, handmade

TODAY = "2026-08-21"
DATES = shipped_calendar().last(22, TODAY)
WEEKS = week_ends(shipped_calendar(), "2024-01-01", TODAY)
BANK, FOOD, CHIPS = "801780", "801120", "801080"
GROWTH = {BANK: 1.01, FOOD: 1.0, CHIPS: 0.99}
NAMES = {BANK: "银行", FOOD: "食品饮料", CHIPS: "电子"}


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    folder: Path = tmp_path_factory.mktemp("market_days")
    for url in engine_url(request.param, folder, "tests.serving_api.areas"):
        with handmade(url, folder, TODAY) as made:
            fill_industries(made)
            yield made


def fill_industries(market: Handmade) -> None:
    market.put(
        "fusion_industry_index",
        [
            {"code": code, "date": day, "name": NAMES[code], "level": "l1", "close": 1000 * growth**at,
             "change_pct": (growth - 1) * 100 * (1 if day < TODAY else -1), "amount_yi": 100.0,
             "amount_share_pct": 5.0}
            for code, growth in GROWTH.items()
            for at, day in enumerate(DATES)
        ],
    )  # fmt: skip
    market.put(
        "fusion_stock_industry",
        [
            {"code": "600000", "name": "浦发银行", "sw_l1": BANK},
            {"code": "600036", "name": "招商银行", "sw_l1": BANK},
        ],
    )

    market.put(
        "raw_index_constituent",
        [
            {"code": code, "provider": "sw", "index_code": BANK, "index_name": NAMES[BANK],
             "in_date": DATES[0], "as_of_date": TODAY, "src": "sw"}
            for code in ("600000", "600036")
        ],
    )  # fmt: skip

    def node(day: str, code: str, level: str, change: float, **more: Any) -> dict[str, Any]:
        own = {"trade_date": day, "node_code": code, "level": level, "name": code, "change_pct": change}
        return {**own, "amount_yi": 50.0, **more}

    market.put(
        "fusion_market_cloud_map",
        [
            row
            for at, day in enumerate(DATES[-3:])
            for row in (
                node(day, "ROOT", "market", 0.5, amount_yi=1000.0),
                node(day, "BK1", "sector", 1.0 + at, change_pct_5d=4.0, main_net=1e8, up_count=3),
                node(day, "BK2", "sector", 2.5, main_net=-1e8, up_count=1),
                node(day, "600000", "stock", 1.0, main_net=2e7, limit_up_count=0),
                node(day, "600036", "stock", -1.0, main_net=1e7, limit_up_count=0),
            )
        ],
    )


def test_industries_are_ranked_and_placed(market: Handmade) -> None:
    market.calculate("industry_rank", *DATES[-3:-1])
    market.calculate("industry_rank", TODAY)

    rows = market.call("get_industry_rank")

    assert [row["industry_code"] for row in rows] == [CHIPS, FOOD, BANK]
    assert [(row["rank_no"], row["rank_change"]) for row in rows] == [(1, 2), (2, 0), (3, -2)]
    bank = rows[-1]
    assert bank["chg_5d"] == pytest.approx((1.01**5 - 1) * 100, abs=1e-3)
    assert bank["chg_20d"] == pytest.approx((1.01**20 - 1) * 100, abs=1e-3)
    assert (bank["quadrant"], rows[0]["quadrant"]) == ("leading", "lagging")
    assert (bank["up_count"], bank["down_count"], bank["main_net"]) == (1, 1, 3e7)
    assert (bank["leader_code"], bank["leader_change_pct"]) == ("600000", 1.0)
    assert rows[0]["up_count"] is None  # no member is known


def test_boards_of_the_portal(market: Handmade) -> None:
    first, second = market.call("get_industry_rank", level="em")

    assert (first["industry_code"], first["rank_no"], first["rank_change"]) == ("BK1", 1, 1)
    assert (first["chg_5d"], first["amount_share_pct"]) == (4.0, 5.0)
    assert second["chg_5d"] is None  # three of five dates are stored
    assert first["quadrant"] is None
    assert second["rotation_score"] == 0  # of the flow alone


def test_the_catalog_of_ranks(market: Handmade) -> None:
    assert [row["rank_no"] for row in market.call("get_industry_rank", top_n=1)] == [1, 3]
    series = market.call("get_industry_rank_history", industry_code=BANK, days=2)
    assert [(row["trade_date"], row["rank_no"]) for row in series] == [(DATES[-2], 1), (TODAY, 3)]
    wrong = {"interface": "get_industry_rank", "params": {"level": "sw_l9"}}
    answer = market.api.post("/datamgr/fusion/call", json=wrong)
    assert answer.status_code == 422
    assert "level" in answer.text


def test_the_same_again_writes_nothing(market: Handmade) -> None:
    again = market.calculate("industry_rank", *DATES[-3:])
    assert sum(one.rows_written for one in again.results) == 0


def test_bands_are_given_at_the_end_of_a_week(market: Handmade) -> None:
    market.put(
        "fusion_valuation",
        [
            {"code": "600000", "date": day, "price": 10.0, "pe_ttm": 5.0 + at, "pb": -1.0}
            for at, day in enumerate(WEEKS)
        ],
    )

    market.calculate("valuation_band", *DATES[-3:])

    (row,) = market.rows("calc_valuation_band")
    assert (row["code"], row["date"], row["pe_pct_3y"]) == ("600000", TODAY, 100)
    assert len(WEEKS) > 130
    assert row["pe_low"] == pytest.approx(5 + 0.1 * (len(WEEKS) - 1))
    assert row["pb_pct_3y"] is None
    assert row["pb_low"] is None


def test_indicators_of_an_index(market: Handmade) -> None:
    dates = shipped_calendar().last(400, TODAY)
    rows = [
        {"code": "sh000300", "date": day, "name": "沪深300", "close": 3000.0 + at, "high": 3005.0 + at,
         "low": 2990.0 + at, "change_pct": 100 / (2999 + at)}
        for at, day in enumerate(dates)
    ]  # fmt: skip
    market.put("fusion_index_daily", rows)

    reported = market.reported("/fusion/index/indicator/sh000300", days=30)

    assert (reported["code"], reported["name"], len(reported["items"])) == ("sh000300", "沪深300", 30)
    assert reported["latest"] == reported["items"][-1]
    last = reported["latest"]
    assert (last["date"], last["close"], last["ma5"], last["ma60"]) == (TODAY, 3399, 3397, 3369.5)
    assert (last["rsi14"], last["dif"], last["macd"]) == (100, 7, 0)
    assert market.reported("/fusion/index/indicator/000300", days=30) == reported
    before = market.reported("/fusion/index/indicator/sh000300", as_of="2020-01-02")
    assert before["items"] == []
    assert before["as_of"].startswith("2020-01-02T23:59:59")
    of_industry = market.reported(f"/fusion/index/indicator/{BANK}")
    assert of_industry["name"] == "银行"
    assert of_industry["latest"]["ma60"] is None
    assert of_industry["latest"]["ma20"] is not None
    assert market.reported("/fusion/index/indicator/sz399001") == {
        "code": "sz399001", "name": None, "items": [], "latest": {}, "first_date": None,
        "note": "nothing is stored yet",
    }  # fmt: skip
    assert (reported["first_date"], reported["note"]) == (dates[0], None)
    more = market.reported("/fusion/index/indicator/sh000300", days=750)
    assert more["note"] == f"400 of 750 trade dates are stored; the first stored date is {dates[0]}"
    assert of_industry["note"] == f"22 of 120 trade dates are stored; the first stored date is {DATES[0]}"
    assert before["note"].startswith("0 of 120 trade dates of that time are stored")
    rows = market.call("get_index_indicator", index_code="sh000300", limit=2)
    assert rows == reported["items"][-2:]


def test_the_calendar_of_an_index(market: Handmade) -> None:
    market.put(
        "fusion_index_daily",
        [
            {"code": "sh000001", "date": day, "name": "上证指数", "close": 3000.0, "change_pct": change}
            for day, change in (("2026-07-30", 1.0), ("2026-07-31", 1.0), ("2026-08-20", -2.0), (TODAY, 0.0))
        ],
    )

    reported = market.reported("/market/index-calendar")

    assert (reported["code"], reported["name"]) == ("sh000001", "上证指数")
    assert [row["change_percent"] for row in reported["items"]] == [1.0, 1.0, -2.0, 0.0]
    assert reported["summary"] == {
        "up_days": 2,
        "down_days": 1,
        "best": {"date": "2026-07-30", "change_percent": 1.0},
        "worst": {"date": "2026-08-20", "change_percent": -2.0},
        "by_month": [
            {"month": "2026-07", "change_percent": 2.01},
            {"month": "2026-08", "change_percent": -2.0},
        ],
        "win_rate_pct": 50.0,
    }
    nothing = market.reported("/market/index-calendar", code="sz399001")
    assert nothing["summary"]["best"] == {}
    assert (nothing["first_date"], nothing["note"]) == (None, "nothing is stored yet")
    assert (reported["first_date"], reported["note"]) == (
        "2026-07-30",
        "asked from 2025-08-22; the first stored date is 2026-07-30",
    )


def test_the_calendar_of_an_index_that_is_stored_from_its_first_day_on_says_nothing(market: Handmade) -> None:
    # 90 days up to today begin on a Sunday: the Monday after it is the first trade date of them.
    days = shipped_calendar().between("2026-05-25", TODAY)
    rows = [
        {"code": "sz399006", "date": day, "name": "创业板指", "close": 2000.0, "change_pct": 0.0}
        for day in days
    ]
    market.put("fusion_index_daily", rows)

    whole = market.reported("/market/index-calendar", code="sz399006", days=90)
    more = market.reported("/market/index-calendar", code="sz399006", days=91 + 2)

    assert (len(whole["items"]), whole["first_date"], whole["note"]) == (len(days), days[0], None)
    assert more["note"] == f"asked from 2026-05-21; the first stored date is {days[0]}"


def test_bad_parameters_of_an_index_are_named(market: Handmade) -> None:
    assert "code" in market.refused("/fusion/index/indicator/hk00700")
    assert "days" in market.refused("/fusion/index/indicator/sh000300", days=29)
    assert "as_of" in market.refused("/fusion/index/indicator/sh000300", as_of="2999-01-01")
    assert "code" in market.refused("/market/index-calendar", code="abc")
    assert "days" in market.refused("/market/index-calendar", days=89)
