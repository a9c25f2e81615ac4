"""Holders, share capital, business, consensus and bars on demand, read on both engines; branches."""

from typing import Any

import pytest

from core.calendar import shipped_calendar
from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, put, results
from tests.serving_api.datasets.fused.test_companies import call, refusal

DAYS = shipped_calendar().last(60, TODAY)


@pytest.fixture(scope="module", autouse=True)
def filled(fused: Bench) -> None:
    warehouse = fused.extra["warehouse"]
    put(
        warehouse,
        "raw_top_holders",
        [
            {"code": MAOTAI, "report_period": period, "holder_type": kind, "holder_key": f"{rank:016d}",
             "rank_no": rank, "holder_name": f"股东{rank}", "hold_shares": 1000 - rank, "ratio_pct": 5.0}
            for period in ("2026-03-31", "2026-06-30")
            for kind in ("top10", "float10")
            for rank in (2, 1)
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_fund_holding",
        [
            {"code": MAOTAI, "report_period": period, "fund_code": fund, "hold_shares": shares}
            for period in ("2026-03-31", "2026-06-30")
            for fund, shares in (("000001", 10), ("000002", 30), ("000003", None))
        ],
    )
    put(
        warehouse,
        "aux_operate",
        [
            {"code": MAOTAI, "report_period": period, "dim_type": kind, "item": item, "revenue": revenue}
            for period in ("2025-06-30", "2025-12-31")
            for kind, item, revenue in (
                ("product", "系列酒", 2.0),
                ("product", "茅台酒", 9.0),
                ("region", "国内", 1.0),
            )
        ],
    )
    put(
        warehouse,
        "aux_worth",
        [
            {"code": MAOTAI, "forecast_year": year, "src": src, "eps_mean": eps}
            for year, src, eps in ((2026, "em_f10", 70.0), (2026, "ths", 71.0), (2027, "em_f10", 80.0))
        ],
    )
    put(
        warehouse,
        "aux_equity",
        [
            {"code": MAOTAI, "change_date": day, "total_shares": 100, "src": "em_f10"}
            for day in ("2020-01-02", "2024-05-06", "2026-03-02")
        ],
    )
    put(
        warehouse,
        "aux_capital",
        [
            {"code": MAOTAI, "ann_date": day, "row_key": "a" * 16, "event_type": "回购", "title": "股份回购",
             "src": "em_f10"}
            for day in ("2026-05-06", "2026-07-02")
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_minute_kline",
        [
            {"code": MAOTAI, "period": period, "datetime": f"{day} {clock}:00", "open": 1.0, "high": 2.0,
             "low": 1.0, "close": 1.5, "volume": 100}
            for day in DAYS[-3:]
            for period, clock in (("5m", "09:35"), ("5m", "09:40"), ("15m", "09:45"))
        ],
    )  # fmt: skip
    put(
        warehouse,
        "fusion_dragon_tiger",
        [
            {"code": PINGAN, "date": DAYS[-20], "reason_key": "a", "reason": "甲", "close": 11.0,
             "net_buy": 1.0, "buy_amt": 2.0, "sell_amt": 1.0, "d5_change_pct": change, "src": "eastmoney"}
            for change in (4.0,)
        ],
        public_at="2026-07-30 18:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "raw_lhb_branch",
        [
            {"code": PINGAN, "trade_date": DAYS[-20], "reason_key": "a", "side": "buy", "rank_no": rank,
             "branch_name": name, "buy_amt": bought, "sell_amt": sold, "is_org": False, "src": "eastmoney"}
            for rank, name, bought, sold in ((1, "甲证券100%营业部", 90.0, 10.0), (2, "乙证券", 5.0, 6.0))
        ],
    )  # fmt: skip


def test_largest_holders_of_a_report(fused: Bench) -> None:
    rows = call(fused, "get_top_holders", code=MAOTAI)
    assert [(row["report_period"], row["holder_type"], row["rank_no"]) for row in rows] == [
        ("2026-06-30", "float10", 1),
        ("2026-06-30", "float10", 2),
    ]
    older = call(fused, "get_top_holders", code=MAOTAI, report_period="2026-03-31", holder_type="top10")
    assert {(row["report_period"], row["holder_type"]) for row in older} == {("2026-03-31", "top10")}
    assert call(fused, "get_top_holders", code=PINGAN) == []
    assert "holder_type" in refusal(fused, "get_top_holders", code=MAOTAI, holder_type="all")
    assert "report_period" in refusal(fused, "get_top_holders", code=MAOTAI, report_period="2026-06-29")


def test_funds_that_hold_most_come_first(fused: Bench) -> None:
    rows = call(fused, "get_fund_holding", code=MAOTAI)
    assert [row["fund_code"] for row in rows] == ["000002", "000001", "000003"]
    assert len(call(fused, "get_fund_holding", code=MAOTAI, limit=1)) == 1


def test_business_by_period_and_dimension(fused: Bench) -> None:
    rows = call(fused, "get_business_composition", code=MAOTAI, periods=1)
    assert [(row["report_period"], row["item"]) for row in rows] == [
        ("2025-12-31", "茅台酒"),
        ("2025-12-31", "系列酒"),
    ]
    assert len(call(fused, "get_business_composition", code=MAOTAI, dim_type="region")) == 2
    assert "dim_type" in refusal(fused, "get_business_composition", code=MAOTAI, dim_type="city")


def test_consensus_by_year_prefers_the_page(fused: Bench) -> None:
    rows = call(fused, "get_eps_consensus", code=MAOTAI)
    assert [(row["forecast_year"], row["eps_mean"]) for row in rows] == [(2026, 71.0), (2027, 80.0)]


def test_share_capital_oldest_first_and_operations_newest_first(fused: Bench) -> None:
    rows = call(fused, "get_share_structure", code=MAOTAI, limit=2)
    assert [row["change_date"] for row in rows] == ["2024-05-06", "2026-03-02"]
    reported = call(fused, "get_capital_operations", code=MAOTAI)
    assert [row["ann_date"] for row in reported] == ["2026-07-02", "2026-05-06"]


def test_minute_bars_of_the_newest_dates(fused: Bench) -> None:
    times = [row["datetime"] for row in call(fused, "get_minute_kline", code=MAOTAI)]
    assert times == [f"{TODAY} 09:35:00", f"{TODAY} 09:40:00"]
    assert len(call(fused, "get_minute_kline", code=MAOTAI, days=2)) == 4
    assert [row["period"] for row in call(fused, "get_minute_kline", code=MAOTAI, period=15)] == ["15m"]
    assert "period" in refusal(fused, "get_minute_kline", code=MAOTAI, period=7)
    assert call(fused, "get_minute_kline", code=PINGAN) == []


def test_the_f10_tables_of_a_code_are_counted_together(fused: Bench) -> None:
    counted = results(fused, f"/datamgr/stats/{MAOTAI}")["dataStatus"]

    assert (counted["raw_top_holders"]["count"], counted["raw_top_holders"]["latestDate"]) == (
        8,
        "2026-06-30",
    )
    assert (counted["raw_minute_kline"]["count"], counted["raw_minute_kline"]["latestDate"]) == (9, TODAY)
    sections = counted["f10"]["sections"]
    assert sections["aux_operate"]["count"] == 6
    assert sections["aux_equity"]["latestDate"] == "2026-03-02"
    assert counted["f10"]["count"] == sum(one["count"] for one in sections.values())


def stat(fused: Bench, **params: Any) -> Any:
    answer = fused.api.get("/market/lhb-branch-stat", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_branches_and_what_became_of_their_purchases(fused: Bench) -> None:
    reported = stat(fused, days=60)

    assert reported["window"] == {"from": DAYS[0], "to": TODAY}
    assert reported["total"] == len(reported["items"]) == 3
    first = reported["items"][0]
    assert first == {
        "branch_name": "甲证券100%营业部",
        "trades": 2,
        "buy_amt": 990.0,
        "sell_amt": 60.0,
        "net_amt": 930.0,
        "codes": 2,
        "is_org": False,
        "win_rate_5d": 100.0,
        "avg_d5_change_pct": 4.0,
    }
    others = {row["branch_name"]: row for row in reported["items"]}
    assert others["机构专用"]["is_org"] is True
    assert others["乙证券"]["win_rate_5d"] is None  # it sold more than it bought
    assert [row["branch_name"] for row in stat(fused, days=60, branch="100%")["items"]] == [
        first["branch_name"]
    ]
    first = DAYS[-20]
    assert reported["first_date"] == first
    assert reported["note"] == f"20 of 60 trade dates are stored; the first stored date is {first}"
    assert stat(fused, days=20)["note"] is None
    assert stat(fused, days=60, limit=1)["total"] == 3
    assert stat(fused, days=5)["total"] == 2


@pytest.mark.parametrize("params", [{"days": 4}, {"days": 251}, {"limit": 0}, {"limit": 201}])
def test_bounds_of_the_branches_are_named(fused: Bench, params: dict[str, int]) -> None:
    answer = fused.api.get("/market/lhb-branch-stat", params=params)

    assert answer.status_code == 422
    assert next(iter(params)) in answer.text
