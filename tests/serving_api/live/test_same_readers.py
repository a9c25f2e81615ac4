"""Interfaces of the catalogue and routes read through the same readers: what one has asked, the other has."""

from collections.abc import Callable
from typing import Any

import pytest

from core.declaration.registry import builtin_registry
from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.live.conftest import asked

CODE = "600040"
PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "get_realtime_stock_changes": ("/realtime/stock-changes", {}),
    "get_realtime_market_stat": ("/market/distribution", {}),
    "get_realtime_industry_ranking": ("/datamgr/market/industry-ranking", {}),
    "get_realtime_northbound": ("/datamgr/realtime/northbound", {}),
    "get_realtime_quote": (f"/datamgr/fusion/market/realtime-quote?codes={CODE}", {"codes": [CODE]}),
    "get_realtime_orderbook": (f"/datamgr/realtime/{CODE}/quote", {"code": CODE}),
    "get_realtime_minute_kline": (f"/datamgr/realtime/{CODE}/minute-kline", {"code": CODE, "period": 1}),
    "get_realtime_fund_flow_minute": (f"/datamgr/realtime/{CODE}/fund-flow-minute", {"code": CODE}),
    "get_xdxr": (f"/datamgr/stock/{CODE}/xdxr", {"code": CODE}),
}
"""Live interface of the catalogue -> the route that reads the same, and its parameters."""
WITHOUT_ROUTE = {"get_ah_premium", "get_realtime_ticks", "get_realtime_index_quote"}
"""No route tells the same; the main indices of `/market/indices` come with the sentiment."""


def interface(bench: FetchContext, name: str) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": PAIRS[name][1]})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_every_live_interface_is_held_against_a_route() -> None:
    live = {
        one.name for dataset in builtin_registry().datasets.values() for one in dataset.interfaces if one.live
    }
    assert live == PAIRS.keys() | WITHOUT_ROUTE


@pytest.mark.parametrize("route_first", [True, False])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_an_interface_and_its_route_ask_once(bench: FetchContext, name: str, route_first: bool) -> None:
    reads: list[Callable[[], Any]] = [
        lambda: bench.api.get(PAIRS[name][0], headers=bench.headers).raise_for_status(),
        lambda: interface(bench, name),
    ]
    if not route_first:
        reads.reverse()
    start = asked(bench)
    reads[0]()
    first = asked(bench)
    assert first - start
    reads[1]()
    assert not asked(bench) - first


def test_anomalies_of_interface_and_route_are_the_same(bench: FetchContext) -> None:
    assert (
        interface(bench, "get_realtime_stock_changes") == bench.get("/realtime/stock-changes").json()["items"]
    )
