"""Billboard, block trades and releases of a stock, and the interfaces over them, on both engines."""

from typing import Any

import pytest

from tests.serving_api.conftest import Bench
from tests.serving_api.datasets.fused.conftest import MAOTAI, PINGAN, TODAY, get, results

STOCK = f"/datamgr/fusion/stock/{MAOTAI}"


def asked(fused: Bench, name: str, **params: object) -> Any:
    return fused.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})


def call(fused: Bench, name: str, **params: object) -> Any:
    answer = asked(fused, name, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_listings_are_newest_first_with_the_named_fields_first(fused: Bench) -> None:
    rows = results(fused, f"{STOCK}/dragon-tiger")

    assert len(rows) == 30
    assert [row["date"] for row in rows] == sorted((row["date"] for row in rows), reverse=True)
    assert list(rows[0])[:9] == [
        "date", "reason", "net_buy", "turnover", "close", "next_change_pct", "buy_amt", "sell_amt", "quality",
    ]  # fmt: skip
    assert [row["reason"] for row in rows[:2]] == ["乙", "甲"]  # two of one date, in a fixed order
    assert rows[0]["buy_seats"] == [{"branch_name": "机构专用", "rank_no": 1}]
    assert results(fused, f"{STOCK}/dragon-tiger", periods=3) == rows[:3]
    assert results(fused, f"/datamgr/fusion/stock/{PINGAN}/dragon-tiger") == []
    assert results(fused, f"{STOCK}/dragon-tiger", as_of="2026-06-01") == []


def test_deals_are_newest_first(fused: Bench) -> None:
    rows = results(fused, f"{STOCK}/block-trade")

    assert list(rows[0])[:9] == [
        "date", "buyer", "seller", "price", "volume", "close", "premium_pct", "amount", "quality",
    ]  # fmt: skip
    assert [(row["date"], row["seq"]) for row in rows[:2]] == [(TODAY, 2), (TODAY, 1)]
    assert len(results(fused, f"{STOCK}/block-trade", periods=1)) == 1


def test_releases_are_between_today_and_the_days_ahead(fused: Bench) -> None:
    assert results(fused, f"{STOCK}/lockup") == [
        {
            "date": TODAY,
            "type": "首发",
            "shares": 100,
            "able_shares": 50,
            "ratio_pct": 1.5,
            "market_value": 1e6,
        }
    ]
    assert [row["date"] for row in results(fused, f"{STOCK}/lockup", forward_days=365)] == [
        TODAY,
        "2027-03-01",
    ]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("dragon-tiger", "periods", 0),
        ("dragon-tiger", "periods", 121),
        ("block-trade", "periods", 201),
        ("lockup", "forward_days", 0),
        ("lockup", "forward_days", 366),
    ],
)
def test_parameters_beyond_their_bounds_are_refused(fused: Bench, path: str, name: str, value: int) -> None:
    answer = get(fused, f"{STOCK}/{path}", **{name: value})

    assert answer.status_code == 422
    assert name in answer.text


def test_interfaces_over_deals_and_releases(fused: Bench) -> None:
    assert len(call(fused, "get_dragon_tiger_history", code=MAOTAI, limit=3)) == 3
    assert len(call(fused, "get_dragon_tiger_by_date", trade_date=TODAY)) == 2
    deals = call(fused, "get_block_trade_by_date", trade_date=TODAY)
    assert sorted(row["premium_pct"] for row in deals) == [-8.0, 1.0]
    assert len(call(fused, "get_block_trade_by_date", trade_date=TODAY, max_premium=-5)) == 1
    assert call(fused, "get_block_trade_by_date", trade_date=TODAY, min_premium=2) == []
    assert len(call(fused, "get_block_trade_history", code=MAOTAI)) == 2
    assert [row["exchange"] for row in call(fused, "get_exchange_block_trade", exchange="SSE")] == ["SSE"]
    assert [row["free_date"] for row in call(fused, "get_lockup", code=MAOTAI)] == ["2026-06-01", TODAY]
    assert [row["free_date"] for row in call(fused, "get_lockup_calendar")] == [TODAY, "2027-03-01"]
    assert len(call(fused, "get_lockup_calendar", end_date="2026-06-30")) == 1
    answer = asked(fused, "get_block_trade_by_date", min_premium=3, max_premium=1)
    assert answer.status_code == 422
    assert "min_premium" in answer.text


def test_seats_of_a_branch_are_counted_once_however_often_they_are_shown(fused: Bench) -> None:
    assert [row["rank_no"] for row in call(fused, "get_lhb_branch", code=MAOTAI)] == [1, 2, 3, 1, 1]
    totals = {row["branch_name"]: row for row in call(fused, "get_lhb_branch_stat")}
    # Both sides of one listing show the branch with the same figures, a second reason with larger ones.
    assert totals["甲证券100%营业部"] == {
        "branch_name": "甲证券100%营业部", "trades": 1, "buy_amt": 900.0, "sell_amt": 50.0, "net_amt": 850.0,
        "codes": 1, "is_org": False,
    }  # fmt: skip
    assert totals["机构专用"]["buy_amt"] == 700.0  # two institutions
    assert totals["机构专用"]["is_org"]
    assert list(totals) == ["甲证券100%营业部", "机构专用"]
    assert len(call(fused, "get_lhb_branch_trades", branch_name="100%")) == 3
    assert call(fused, "get_lhb_branch_trades", branch_name="10_%") == []
    assert call(fused, "get_lhb_branch_stat", branch_name="乙") == []
    assert call(fused, "get_lhb_branch", code=MAOTAI, trade_date="2026-08-20") == []
