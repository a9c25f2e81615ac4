"""Live interfaces of the catalog: they answer what their routes answer, and say where it comes from."""

from typing import Any

import httpx
import pytest

from tests.serving_api.live.admin_reads.conftest import FetchContext

BANK = "600040"


def call(ctx: FetchContext, name: str, **params: Any) -> httpx.Response:
    """Without a token: the call is open."""
    return ctx.api.post("/datamgr/fusion/call", json={"interface": name, "params": params})


def value(ctx: FetchContext, name: str, **params: Any) -> Any:
    answer = call(ctx, name, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_live_interfaces_answer_as_their_routes(ctx: FetchContext) -> None:
    quotes = call(ctx, "get_realtime_quote", codes=f"{BANK},999999")
    routed = ctx.results("/datamgr/fusion/market/realtime-quote", codes=f"{BANK},999999")
    assert quotes.json()["results"] == routed
    assert quotes.headers["x-data-source"] == "quote_site_a"
    book = value(ctx, "get_realtime_orderbook", code=BANK)
    assert (len(book["bids"]), book["price"]) == (5, routed[BANK]["price"])
    assert value(ctx, "get_realtime_orderbook", code="999999") is None
    bars = value(ctx, "get_realtime_minute_kline", code=BANK, period=15)
    assert bars == ctx.results(f"/datamgr/realtime/{BANK}/minute-kline", period=15)
    minutes = value(ctx, "get_realtime_fund_flow_minute", code=BANK)
    assert minutes == ctx.results(f"/datamgr/realtime/{BANK}/fund-flow-minute")
    assert value(ctx, "get_realtime_northbound") == ctx.results("/datamgr/realtime/northbound")
    assert value(ctx, "get_realtime_market_stat") == ctx.results("/datamgr/market/stat")
    ends = value(ctx, "get_realtime_industry_ranking", top_n=3)
    assert ends == ctx.results("/datamgr/fusion/market/industry-ranking", top_n=3)
    assert value(ctx, "get_xdxr", code=BANK) == ctx.results(f"/datamgr/stock/{BANK}/xdxr")["records"]


def test_the_last_trades_and_the_indices(ctx: FetchContext) -> None:
    trades = value(ctx, "get_realtime_ticks", code=BANK, limit=7)
    assert len(trades) == 7
    assert [row["time"] for row in trades] == sorted(row["time"] for row in trades)
    assert trades[-1]["time"] <= "10:30:00"
    assert all(row["price"] > 0 for row in trades)
    indices = value(ctx, "get_realtime_index_quote")
    assert [row["code"] for row in indices] == ["sh000001", "sz399001", "sz399006"]
    change = (indices[0]["price"] / indices[0]["last_close"] - 1) * 100
    assert indices[0]["change_pct"] == pytest.approx(change, abs=0.02)
    assert [row["code"] for row in value(ctx, "get_realtime_index_quote", codes="sz399001")] == ["sz399001"]


def test_what_is_live_has_no_past_and_refuses_what_it_does_not_know(ctx: FetchContext) -> None:
    body = {"interface": "get_realtime_quote", "params": {"codes": BANK}, "as_of": "2026-08-20"}
    assert ctx.api.post("/datamgr/fusion/call", json=body).status_code == 422
    for name, params in (
        ("get_realtime_minute_kline", {"code": BANK, "period": 7}),
        ("get_realtime_index_quote", {"scope": "hk"}),
        ("get_realtime_quote", {}),
    ):
        assert call(ctx, name, **params).status_code == 422
    ctx.silence("tencent", "eastmoney", "tdx")
    assert value(ctx, "get_realtime_quote", codes=BANK) == {}
