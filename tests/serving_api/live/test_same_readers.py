"""Interfaces of the catalogue and routes read through the same readers: what one has asked, the other has."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.serving_api.datamgr_live.conftest import Desk
from tests.serving_api.live.conftest import asked

PAIRS = {
    "get_realtime_stock_changes": "/realtime/stock-changes",
    "get_realtime_market_stat": "/market/distribution",
    "get_realtime_industry_ranking": "/datamgr/market/industry-ranking",
    "get_realtime_northbound": "/datamgr/realtime/northbound",
}


def interface(bench: Desk, name: str) -> Any:
    answer = bench.api.post("/datamgr/fusion/call", json={"interface": name, "params": {}})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


@pytest.mark.parametrize("route_first", [True, False])
@pytest.mark.parametrize("name", sorted(PAIRS))
def test_an_interface_and_its_route_ask_once(bench: Desk, name: str, route_first: bool) -> None:
    reads: list[Callable[[], Any]] = [
        lambda: bench.get(PAIRS[name]).raise_for_status(),
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


def test_anomalies_of_interface_and_route_are_the_same(bench: Desk) -> None:
    assert (
        interface(bench, "get_realtime_stock_changes") == bench.get("/realtime/stock-changes").json()["items"]
    )
