"""The standing conditions of the state `autumn-2026`, each seen by a client as it is on the wire."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from pytdx.hq import TdxHq_API

from core.clock import ManualClock
from simulated_market.conditions import Conditions
from simulated_market.faults import Fault
from simulated_market.service import SimulatedMarket
from simulated_market.wire import HttpRequest
from simulated_market.world.loader import load_world

NOW = datetime(2026, 9, 15, 15, 45)


CLOCK = ManualClock(NOW)


@pytest.fixture(scope="module")
def market() -> Iterator[SimulatedMarket]:
    world = load_world("synthetic", "S", state="autumn-2026")
    with SimulatedMarket(world, CLOCK) as running:
        yield running


@pytest.fixture(autouse=True)
def afternoon() -> None:
    CLOCK.at = NOW


@pytest.fixture
def client(market: SimulatedMarket) -> Iterator[httpx.Client]:
    market.faults.clear()
    with httpx.Client(base_url=market.http_url, timeout=5) as one:
        yield one


@contextmanager
def terminal(market: SimulatedMarket, number: int) -> Iterator[TdxHq_API]:
    """A public client, connected to one of the servers."""
    api = TdxHq_API()
    assert api.connect(*market.tcp_addresses[number - 1])
    try:
        yield api
    finally:
        api.disconnect()


def tencent(client: httpx.Client, symbol: str) -> dict[str, Any]:
    path = "/tencent/ifzqgtimg/appstock/app/newfqkline/get"
    found = client.get(path, params={"param": f"{symbol},day,,,5,"}).json()["data"][symbol]
    assert isinstance(found, dict)
    return found


def test_two_terminal_servers_have_lists_and_no_bars(market: SimulatedMarket) -> None:
    assert len(market.tcp_addresses) == 4
    for number, bars in ((1, 0), (2, 0), (4, 5)):
        with terminal(market, number) as server:
            assert len(server.get_xdxr_info(1, "600124")) > 0
            assert len(server.get_security_list(0, 0)) > 0
            assert len(server.get_security_bars(9, 1, "600040", 0, 5) or []) == bars
            assert len(server.get_security_quotes([(1, "600040")]) or []) == min(bars, 1)
            assert len(server.get_history_transaction_data(1, "600040", 0, 9, 20260914) or []) == min(
                bars * 9, 9
            )


def test_one_terminal_server_has_files_alone(market: SimulatedMarket) -> None:
    assert set(market.terminals.split(",")) == {f"{host}:{port}" for host, port in market.tcp_addresses}
    with terminal(market, 3) as files:
        assert not files.get_xdxr_info(1, "600124")
        assert len(files.get_report_file("block_gn.dat", 0)["chunkdata"]) > 0


@pytest.mark.parametrize("day", [15, 16])
def test_a_record_is_a_session_late_at_the_terminal(market: SimulatedMarket, day: int) -> None:
    CLOCK.at = NOW.replace(day=day)
    with terminal(market, 4) as server:
        events = server.get_xdxr_info(1, "605622")
    dates = [(one["year"], one["month"], one["day"]) for one in events if one["category"] == 1]
    assert dates == [(2026, 7, 28), *[(2026, 9, 15)] * (day == 16)]


def test_tencent_has_no_bars_of_beijing(client: httpx.Client) -> None:
    assert set(tencent(client, "bj920004")) == {"qt"}
    assert len(tencent(client, "sh600040")["day"]) == 5
    assert (
        client.get("/tencent/appstock/app/fqkline/get", params={"param": "sh600040,day,,,5,"}).status_code
        == 501
    )


def test_a_rule_of_a_test_comes_on_top(market: SimulatedMarket, client: httpx.Client) -> None:
    market.faults.replace([{"upstream": "tencent", "call": "bars", "kind": "status", "args": {"code": 503}}])
    answer = client.get(
        "/tencent/ifzqgtimg/appstock/app/newfqkline/get", params={"param": "bj920004,day,,,5,"}
    )
    assert answer.status_code == 503


def test_an_exchange_answers_an_error_page_now_and_then(client: httpx.Client) -> None:
    path = "/czce/cn/DFSStaticFiles/Future/2026/20260914/FutureDataDaily.txt"
    pages = [client.get(path) for _ in range(3)]
    assert [page.status_code for page in pages] == [200, 200, 200]
    assert ["您的访问出错了" in page.content.decode("utf-8", "replace") for page in pages] == [
        False,
        False,
        True,
    ]


def test_a_cache_serves_the_day_before_now_and_then(client: httpx.Client) -> None:
    path = "/csindex/static/html/csindex/public/uploads/file/autofile/indicator/000300indicator.xls"
    objects = [client.get(path) for _ in range(3)]
    assert objects[0].content == objects[1].content != objects[2].content
    assert objects[2].headers["Last-Modified"] == "Mon, 14 Sep 2026 08:00:00 GMT"


def test_the_history_hosts_are_away_after_ten_answers_a_visitor(client: httpx.Client) -> None:
    query = {"secid": "1.600040", "klt": "101", "fqt": "0", "fields2": "f51,f52"}

    def ask(cookie: str) -> bool:
        try:
            headers = {"Cookie": cookie}
            return client.get("/eastmoney/api/qt/stock/kline/get", params=query, headers=headers).is_success
        except httpx.TransportError:
            return False

    assert [ask("a") for _ in range(12)] == [True] * 10 + [False] * 2
    assert ask("b")
    assert client.get("/eastmoney/api/data/v1/get", params={"reportName": "RPT_SHAREBONUS_DET"}).is_success


def test_they_come_back_after_a_while() -> None:
    moments = iter([*range(11), 12.0, 400.0])
    conditions = Conditions("autumn-2026", elapsed=lambda: float(next(moments)))
    request = HttpRequest("GET", "/api/qt/stock/kline/get", "", {})
    found = [conditions.fault("eastmoney", "kline", request, NOW) for _ in range(13)]
    assert found == [None] * 10 + [Fault("reset")] * 2 + [None]


def test_reports_have_rows_twice_and_fields_that_are_empty(client: httpx.Client) -> None:
    query = {
        "reportName": "RPT_SHAREBONUS_DET", "columns": "ALL", "pageSize": "500", "pageNumber": "1",
        "sortColumns": "NOTICE_DATE", "sortTypes": "-1", "filter": "(NOTICE_DATE>='2025-03-01')",
    }  # fmt: skip

    def rows(asked: httpx.Client) -> list[str]:
        found = asked.get("/eastmoney/api/data/v1/get", params=query).json()["result"]["data"]
        return [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in found]

    untidy = rows(client)
    assert rows(client) == untidy
    with (
        SimulatedMarket(load_world("synthetic", "S", state="autumn-2026"), CLOCK, tcp_port=None) as other,
        httpx.Client(base_url=other.http_url) as plain,
    ):
        other.faults.replace([{"kind": "slow", "args": {"bytes_per_second": 1e9}}])
        tidy = rows(plain)
    repeated = len(untidy) - len(set(untidy))
    half_filled = [json.loads(row) for row in set(untidy) - set(tidy)]
    assert len(set(tidy)) == len(tidy) == len(set(untidy))
    assert 0 < repeated < len(tidy) // 10
    assert 0 < len(half_filled) < len(tidy) // 10
    assert all(row["SECURITY_CODE"] for row in half_filled)
    CLOCK.at = NOW + timedelta(days=1)
    assert (
        set(rows(client)) & {json.dumps(row, ensure_ascii=False, sort_keys=True) for row in half_filled}
        == set()
    )
