"""The live reads through real sockets: values of the world, order of sources, empty structures."""

import math
from datetime import datetime

import pandas as pd
import pytest

from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from serving_api.framework.cache_headers import in_trading_hours
from serving_api.live import clients
from serving_api.live.admin_reads.service import live_of
from simulated_market.world.model import PRICE_UNIT, Security
from tests.serving_api.live.admin_reads.conftest import CLOSED, TRADING, FetchContext

BANK = "600040"
FIELDS = (
    "name price open high low last_close change_pct turnover_pct pe_ttm pb mcap_yi limit_up limit_down"
).split()
SIDES = {"super_large_in", "super_large_out", "large_in", "large_out"}
SIDES |= {"medium_in", "medium_out", "small_in", "small_out"}


def security(ctx: FetchContext, code: str = BANK) -> Security:
    found = ctx.world.find(f"sh{code}")
    assert found is not None
    return found


def price_of(ctx: FetchContext, now: datetime) -> float:
    quote = ctx.world.quote(security(ctx), now)
    assert quote is not None
    return quote.price / PRICE_UNIT


def test_the_quote_map_has_every_field_and_leaves_unknown_codes_out(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/fusion/market/realtime-quote", codes=f"{BANK},000101,999999")

    assert list(found) == [BANK, "000101"]
    quote, valuation = found[BANK], ctx.world.valuation(security(ctx), TRADING)
    assert set(quote) == set(FIELDS)
    assert quote["price"] == price_of(ctx, TRADING)
    assert quote["name"] == "瀚岳银行"
    assert valuation is not None
    assert quote["mcap_yi"] == pytest.approx((valuation.total_market_cap or 0) / 1e8, rel=1e-3)
    assert quote["limit_up"] == pytest.approx(quote["last_close"] * 1.1, abs=0.01)


def test_flash_news_roll_and_stored_ones_are_the_fallback(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/market/global-news", page_size=60)

    assert len(found) == 60
    assert [item["time"] for item in found] == sorted((item["time"] for item in found), reverse=True)
    assert found[0]["time"] <= "2026-08-21 10:30:00"
    assert set(found[0]) == {"id", "time", "title", "content", "source", "importance", "codes", "url"}
    assert ctx.calls("eastmoney") == 2
    assert len(ctx.results("/datamgr/market/global-news")) == 50
    for size in (0, 201):
        assert ctx.get("/datamgr/market/global-news", page_size=size).status_code == 422

    ctx.silence("eastmoney")
    ctx.ticks.advance(60)
    assert ctx.results("/datamgr/market/global-news") == []
    item = {"flash_id": "7", "pub_time": "2026-08-21 09:00:00", "title": "<b>快讯", "content": None,
            "media": "东方财富", "importance": 2, "codes": '["600519"]', "boards": "[]", "url": None,
            "src": "eastmoney"}  # fmt: skip
    table = ctx.warehouse.table("raw_news_flash")
    batch = Batch(partition_key="test")
    ctx.warehouse.writer.write(table, pd.DataFrame([item]), where=Slice(), batch=batch)
    ctx.ticks.advance(60)
    (reported,) = ctx.results("/datamgr/market/global-news")
    assert (reported["id"], reported["title"], reported["codes"]) == ("7", "<b>快讯", ["600519"])


def test_the_terminal_fills_the_quote_map_from_what_is_stored(ctx: FetchContext) -> None:
    rich = ctx.results("/datamgr/fusion/market/realtime-quote", codes=BANK)[BANK]
    ctx.ticks.advance(60)
    ctx.silence("tencent", "eastmoney")

    poor = ctx.results("/datamgr/fusion/market/realtime-quote", codes=BANK)[BANK]

    assert (poor["pe_ttm"], poor["pb"]) == (None, None)
    for name in ("name", "price", "last_close", "limit_up", "limit_down", "change_pct"):
        assert poor[name] == rich[name], name
    assert poor["mcap_yi"] == pytest.approx(rich["mcap_yi"], abs=0.02)
    assert poor["turnover_pct"] == pytest.approx(rich["turnover_pct"], abs=0.011)


@pytest.mark.parametrize(
    ("now", "first", "second"), [(TRADING, "tdx", "tencent"), (CLOSED, "tencent", "tdx")]
)
def test_the_hour_decides_which_source_is_first(
    ctx: FetchContext, now: datetime, first: str, second: str
) -> None:
    origin = {"tdx": "tcp_terminal", "tencent": "quote_site_a"}
    ctx.clock.at = now

    one = ctx.results(f"/datamgr/realtime/{BANK}/quote")
    ctx.ticks.advance(60)
    ctx.silence(first)
    two = ctx.results(f"/datamgr/realtime/{BANK}/quote")
    ctx.ticks.advance(60)
    ctx.silence(first, second)
    three = ctx.results(f"/datamgr/realtime/{BANK}/quote")

    assert [one["_source"], two["_source"]] == [origin[first], origin[second]]
    assert three["_source"] == "finance_portal_a"
    for name in ("code", "name", "price", "last_close", "open", "high", "low", "change_pct", "volume"):
        assert one[name] == two[name] == three[name], name
    assert one["price"] == price_of(ctx, now)


def test_the_book_has_five_levels_on_both_sides(ctx: FetchContext) -> None:
    answer = ctx.get(f"/datamgr/realtime/{BANK}/quote")
    quote = answer.json()["results"]

    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-data-source"] == "tcp_terminal"
    assert quote["time"].startswith("2026-08-21 10:")
    for side in ("bids", "asks"):
        assert [level["level"] for level in quote[side]] == [1, 2, 3, 4, 5]
    assert quote["bids"][0]["price"] < quote["asks"][0]["price"]
    assert quote["inner_vol"] + quote["outer_vol"] == quote["volume"]


@pytest.mark.parametrize(
    "path",
    [
        f"/datamgr/fusion/market/realtime-quote?codes={BANK}",
        "/datamgr/market/stat",
        f"/datamgr/realtime/{BANK}/quote",
        f"/datamgr/realtime/{BANK}/minute-kline",
        f"/datamgr/realtime/{BANK}/fund-flow-minute",
        "/datamgr/realtime/northbound",
        f"/datamgr/stock/{BANK}/xdxr",
        f"/datamgr/stock/{BANK}/fund-flow",
        f"/stocks/{BANK}/intraday",
    ],
)
def test_every_live_answer_says_whose_it_is_and_of_when(ctx: FetchContext, path: str) -> None:
    first = ctx.api.get(path, headers=ctx.headers)
    ctx.clock.at = ctx.clock.at.replace(second=1)  # shared: still the answer of the minute
    shared = ctx.api.get(path, headers=ctx.headers)

    assert first.headers["x-data-as-of"] == "2026-08-21T10:30:00+08:00"
    assert first.headers["x-data-source"] in {"tcp_terminal", "quote_site_a", "finance_portal_a"}
    for name in ("x-data-as-of", "x-data-source"):
        assert shared.headers[name] == first.headers[name]


def test_a_silent_source_is_waited_for_once(ctx: FetchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits is served better by the next source than by another wait for the same one."""
    monkeypatch.setattr(clients, "RETRY_WITHIN_S", 0.2)
    ctx.clock.at = CLOSED
    ctx.faults.replace([{"upstream": "tencent", "call": "*", "kind": "timeout", "args": {}, "count": 0}])

    found = ctx.results(f"/datamgr/realtime/{BANK}/quote")

    assert found["_source"] == "tcp_terminal"
    assert ctx.calls("tencent") == 1


def test_an_empty_answer_names_no_source(ctx: FetchContext) -> None:
    ctx.silence("tdx", "tencent", "eastmoney")

    answer = ctx.get("/datamgr/realtime/northbound")

    assert answer.json()["results"] == []
    assert "x-data-source" not in answer.headers


def test_quotes_are_shared_for_seconds(ctx: FetchContext) -> None:
    ctx.clock.at = CLOSED
    for _ in range(5):
        ctx.results(f"/datamgr/realtime/{BANK}/quote")
    assert ctx.calls("tencent") == 1

    ctx.ticks.advance(3.1)
    ctx.results(f"/datamgr/realtime/{BANK}/quote")
    assert ctx.calls("tencent") == 2


@pytest.mark.parametrize("period", [1, 5, 15, 30, 60])
def test_minute_bars_agree_between_the_sources(ctx: FetchContext, period: int) -> None:
    path = f"/datamgr/realtime/{BANK}/minute-kline"
    terminal = ctx.get(path, period=period).json()
    ctx.ticks.advance(60)
    ctx.silence("tdx")
    site = ctx.get(path, period=period).json()

    assert (terminal["_source"], site["_source"]) == ("tcp_terminal", "quote_site_a")
    assert terminal["results"][-1] == site["results"][-1]
    times = [bar["datetime"] for bar in terminal["results"]]
    assert times == sorted(times)
    assert times[-1] == "2026-08-21 10:30:00"
    assert set(terminal["results"][0]) == {"datetime", "open", "high", "low", "close", "volume"}


def test_ex_rights_are_those_of_the_world(ctx: FetchContext) -> None:
    found = ctx.results(f"/datamgr/stock/{BANK}/xdxr")
    expected = ctx.world.exrights(security(ctx), TRADING)

    assert found["code"] == BANK
    assert [row["date"] for row in found["records"]] == sorted(str(one.date) for one in expected)
    rights = [row for row in found["records"] if row["category"] == 1]
    assert rights[0]["hongli"] == pytest.approx(next(one for one in expected if one.category == 1).values[0])
    others = [row for row in found["records"] if row["category"] != 1]
    assert all(row["hongli"] is None and row["peigu"] is None for row in others)


def test_fund_flow_splits_the_day_and_nets_the_days_before(ctx: FetchContext) -> None:
    found = ctx.results(f"/datamgr/stock/{BANK}/fund-flow", days=5)
    flows = ctx.world.flows(security(ctx), TRADING)

    assert set(found["today"]) == SIDES
    assert found["today"]["super_large_in"] == pytest.approx(flows[-1].super_large_in, abs=1)
    assert len(found["history"]) == 5
    newest = flows[-1]
    main = newest.super_large_in - newest.super_large_out + newest.large_in - newest.large_out
    assert found["history"][-1]["main_netflow"] == pytest.approx(main, abs=2)
    assert [day["date"] for day in found["history"]] == sorted(day["date"] for day in found["history"])
    assert "note" not in ctx.get(f"/datamgr/stock/{BANK}/fund-flow", days=5).json()


def test_fund_flow_of_the_quote_site_has_nets_alone(ctx: FetchContext) -> None:
    ctx.silence("eastmoney")

    found = ctx.results(f"/datamgr/stock/{BANK}/fund-flow", days=5)

    assert set(found["today"].values()) == {None}
    assert all(math.isfinite(day["main_netflow"]) for day in found["history"])


def test_minute_flow_is_cumulative_and_named_by_its_source(ctx: FetchContext) -> None:
    portal = ctx.get(f"/datamgr/realtime/{BANK}/fund-flow-minute").json()
    ctx.ticks.advance(60)
    ctx.silence("eastmoney")
    site = ctx.get(f"/datamgr/realtime/{BANK}/fund-flow-minute").json()

    assert (portal["_source"], site["_source"]) == ("finance_portal_a", "quote_site_a")
    last = portal["results"][-1]
    nets = ("super_net", "large_net", "medium_net", "small_net")
    assert last["main_net"] == pytest.approx(last["super_net"] + last["large_net"], abs=2)
    assert sum(last[name] for name in nets) == pytest.approx(0, abs=3)
    assert site["results"][-1]["super_net"] is None


def test_northbound_says_that_nothing_is_disclosed(ctx: FetchContext) -> None:
    found = ctx.get("/datamgr/realtime/northbound").json()

    assert found["date"] == "2026-08-21"
    assert found["available"] is False
    assert "2024-08-19" in found["note"]
    assert {minute["total"] for minute in found["results"]} == {None}


@pytest.mark.parametrize("now", [TRADING, CLOSED])
def test_market_stat_counts_every_share_once(ctx: FetchContext, now: datetime) -> None:
    ctx.clock.at = now
    stocks = [one for one in ctx.world.securities(now) if one.kind == "stock"]
    quotes = [quote for one in stocks if (quote := ctx.world.quote(one, now)) is not None]
    traded = [quote for quote in quotes if quote.volume > 0]

    stat = ctx.results("/datamgr/market/stat")

    assert len(stat) == 10
    assert stat["total_count"] == len(stocks)
    assert stat["up_count"] == sum(quote.price > quote.preclose for quote in traded)
    assert stat["down_count"] == sum(quote.price < quote.preclose for quote in traded)
    assert stat["limit_up_count"] == sum(quote.price == quote.limit_up for quote in traded)
    assert stat["limit_down_count"] == sum(quote.price == quote.limit_down for quote in traded)
    assert stat["suspended_count"] == len(stocks) - len(traded)
    parts = ("up_count", "down_count", "neutral_count", "suspended_count")
    assert sum(stat[name] for name in parts) == stat["total_count"]
    assert stat["total_amount"] == pytest.approx(sum(quote.amount for quote in traded), rel=1e-4)


def test_market_stat_agrees_between_the_sources(ctx: FetchContext) -> None:
    terminal = ctx.results("/datamgr/market/stat")
    ctx.ticks.advance(11)
    ctx.silence("tdx")

    site = ctx.results("/datamgr/market/stat")

    counts = [name for name in terminal if name.endswith("_count")]
    assert {name: site[name] for name in counts} == {name: terminal[name] for name in counts}
    assert site["total_amount"] == pytest.approx(terminal["total_amount"], rel=1e-3)
    assert site["total_market_cap"] == pytest.approx(terminal["total_market_cap"], rel=1e-3)


def test_without_any_source_there_are_empty_structures(ctx: FetchContext) -> None:
    ctx.silence("tdx", "tencent", "eastmoney")

    assert ctx.results("/datamgr/fusion/market/realtime-quote", codes=BANK) == {}
    assert ctx.results(f"/datamgr/realtime/{BANK}/quote") == {}
    minutes = ctx.get(f"/datamgr/realtime/{BANK}/minute-kline").json()
    assert (minutes["results"], minutes["_source"]) == ([], None)
    assert ctx.results(f"/datamgr/stock/{BANK}/xdxr") == {"code": BANK, "records": []}
    flow = ctx.results(f"/datamgr/stock/{BANK}/fund-flow")
    assert flow == {"code": BANK, "today": dict.fromkeys(sorted(SIDES)), "history": []}
    assert ctx.get(f"/datamgr/stock/{BANK}/fund-flow").json()["note"] == "nothing is stored yet"
    assert ctx.results(f"/datamgr/realtime/{BANK}/fund-flow-minute") == []
    assert ctx.results("/datamgr/realtime/northbound") == []
    refused = ctx.get("/datamgr/market/stat")
    assert refused.status_code == 503
    assert set(refused.json()) == {"detail"}


def test_a_code_that_no_exchange_has_is_not_asked_for(ctx: FetchContext) -> None:
    assert ctx.results("/datamgr/realtime/999999/quote") == {}
    assert ctx.calls("tencent") + ctx.calls("eastmoney") == 0


@pytest.mark.parametrize(
    ("path", "params", "parameter"),
    [
        ("/datamgr/fusion/market/realtime-quote", {}, "codes"),
        ("/datamgr/fusion/market/realtime-quote", {"codes": "1,2"}, "codes"),
        (
            "/datamgr/fusion/market/realtime-quote",
            {"codes": ",".join(f"{at:06d}" for at in range(601))},
            "codes",
        ),
        (f"/datamgr/realtime/{BANK}/minute-kline", {"period": 7}, "period"),
        (f"/datamgr/stock/{BANK}/fund-flow", {"days": 121}, "days"),
        ("/datamgr/realtime/60004/quote", {}, "code"),
    ],
)
def test_bad_values_are_named(ctx: FetchContext, path: str, params: dict[str, str], parameter: str) -> None:
    answer = ctx.get(path, **params)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{parameter}:")


def test_the_clients_are_closed_with_the_app(ctx: FetchContext) -> None:
    ctx.results(f"/datamgr/realtime/{BANK}/quote")
    state = ctx.app.state.platform
    live = state.part(live_of)
    assert live.clients._opened is not None

    ctx.api.call(_close, state)

    assert live.clients._opened is None


async def _close(state) -> None:  # type: ignore[no-untyped-def]
    state.close_parts()


def test_lunch_counts_as_trading_hours(ctx: FetchContext) -> None:
    assert in_trading_hours(datetime(2026, 8, 21, 12, 30), ctx.app.state.platform.calendar)
