"""A code in every notation at every door of the API: routes, lists, interfaces, tools, the console."""

import json
from typing import Any

import pytest

from tests.serving_api.conftest import Bench

NOTATIONS = ["600519.SH", "sh600519", "SH600519", "1.600519"]


@pytest.mark.parametrize("code", NOTATIONS)
@pytest.mark.parametrize(
    "path",
    [
        "/stocks/{}/kline?days=30",
        "/stocks/{}",
        "/stocks/batch-kline?codes={},000001&days=5",
        "/stocks/batch-quotes?codes={}",
        "/stocks/search?keyword={}",
        "/market/backtest/strategy?code={}&lookback_days=60",
    ],
)
def test_reads(bench: Bench, path: str, code: str) -> None:
    written, plain = (bench.api.get(path.format(one)) for one in (code, "600519"))
    assert written.status_code == 200, written.text
    answers = [one.json() for one in (written, plain)]
    for one in answers:
        one.pop("query_time", None)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("code", NOTATIONS)
def test_interfaces_and_tools(bench: Bench, code: str) -> None:
    def rows(one: str) -> Any:
        body = {"interface": "get_kline_daily", "params": {"code": one, "limit": 5}}
        return bench.api.post("/datamgr/fusion/call", json=body).json()["results"]

    def items(one: str) -> Any:
        call = {"name": "app_info", "arguments": {"interface": "get_kline_daily", "params": {"code": one}}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return bench.api.post("//mcp/tools/call", json=body).json()["result"]["structuredContent"]["items"]

    assert rows(code) == rows("600519") != []
    assert items(code) == items("600519") != []


@pytest.mark.parametrize("code", NOTATIONS)
def test_the_console_leads_to_the_page_of_the_code(bench: Bench, code: str) -> None:
    answer = bench.api.get(f"//console/stock/{code}?lang=en", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "600519?lang=en")


@pytest.mark.parametrize("text", ["000300", "000300.SH", "SH000300", "沪深300"])
def test_indices(bench: Bench, text: str) -> None:
    for path in ("/index/valuation/{}", "/fusion/index/indicator/{}"):
        answer = bench.api.get(path.format(text))
        assert answer.status_code == 200, answer.text
        assert "sh000300" in json.dumps(answer.json())


@pytest.mark.parametrize(
    ("code", "problem"),
    [("000001.SH", "is the index sh000001"), ("600519.SZ", "nearest: 600519.SH")],
)
def test_a_route_of_stocks_refuses_an_index_and_a_number_of_another_market(
    bench: Bench, code: str, problem: str
) -> None:
    answer = bench.api.get(f"/stocks/{code}/kline")
    assert answer.status_code == 422
    assert problem in answer.json()["detail"]
