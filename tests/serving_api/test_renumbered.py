"""A former code at every door: the answer is that of the code of today, and says so."""

import json
from typing import Any

import httpx
import pytest

from tests.serving_api import market
from tests.serving_api.conftest import Bench

OLD, NEW, DAY = "003061", "600519", "2026-08-03"
GONE = "430999"
SAID = [{"from": OLD, "to": NEW, "date": DAY}]


@pytest.fixture(scope="module")
def renumbered(bench: Bench) -> Bench:
    warehouse = bench.warehouse()
    change = {"code": OLD, "new_code": NEW, "date": DAY, "market": "SH", "name": None}
    market.put(warehouse, market.CODE_CHANGES, [change])
    warehouse.close()
    return bench


def called(bench: Bench, interface: str, **params: Any) -> httpx.Response:
    return bench.api.post("/datamgr/fusion/call", json={"interface": interface, "params": params})


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
def test_reads(renumbered: Bench, path: str) -> None:
    old, new = (renumbered.api.get(path.format(code)) for code in (OLD, NEW))

    assert old.headers["X-Renumbered"] == f"{OLD} is {NEW} since {DAY}"
    found = old.json()
    assert found.pop("renumbered") == SAID
    expected = new.json()
    for one in (found, expected):
        one.pop("query_time", None)
    assert found == expected
    assert "X-Renumbered" not in new.headers
    assert "renumbered" not in expected


def test_a_code_and_its_former_one_are_one_code(renumbered: Bench) -> None:
    found = renumbered.api.get(f"/stocks/batch-kline?codes={OLD},{NEW},000001&days=5").json()
    assert list(found["results"]) == [NEW, "000001"]
    assert found["total"] == 2


@pytest.mark.parametrize(
    ("interface", "parameter", "more"),
    [
        ("get_kline_daily", "code", {"limit": 5}),
        ("get_kline_daily_batch", "codes", {"days": 5}),
        ("get_returns", "code", {"limit": 5}),
    ],
)
def test_interfaces(renumbered: Bench, interface: str, parameter: str, more: dict[str, Any]) -> None:
    old, new = (called(renumbered, interface, **{parameter: code}, **more) for code in (OLD, NEW))

    assert old.status_code == 200, old.text
    assert old.json()["results"] == new.json()["results"] != []
    assert (old.json()["renumbered"], "renumbered" in new.json()) == (SAID, False)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("app_info", {"interface": "get_kline_daily", "params": {"code": "{}", "limit": 5}}),
        ("app_find", {"query": "{}", "kind": "security"}),
    ],
)
def test_tools_for_models(renumbered: Bench, name: str, arguments: dict[str, Any]) -> None:
    def tool(code: str) -> dict[str, Any]:
        filled = json.loads(json.dumps(arguments).replace("{}", code))
        params = {"name": name, "arguments": filled}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = renumbered.api.post("//mcp/tools/call", json=body).json()
        assert "renumbered" not in answer  # it is part of the tool's own answer
        found: dict[str, Any] = answer["result"]["structuredContent"]
        return found

    old, new = tool(OLD), tool(NEW)
    assert (old["renumbered"], new["renumbered"]) == (SAID, None)
    assert old["items"] == new["items"] != []


def test_rows_for_the_client_and_bodies_with_codes(renumbered: Bench) -> None:
    pa = pytest.importorskip("pyarrow")
    body = {"columns": ["code", "date"], "codes": [OLD]}
    answer = renumbered.api.post("/research/rows/kline_daily", json=body, headers=renumbered.admin())
    assert answer.headers["X-Renumbered"].startswith(OLD)
    rows = pa.ipc.open_stream(answer.content).read_all()
    assert set(rows["code"].to_pylist()) == {NEW}


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/stocks/{}/kline", "code"),
        ("/stocks/batch-kline?codes=600519,{}", "codes"),
        ("/market/backtest/strategy?code={}", "code"),
        ("/stocks/search?keyword={}", "keyword"),
    ],
)
def test_a_number_that_nobody_knows_is_no_empty_list(renumbered: Bench, path: str, parameter: str) -> None:
    answer = renumbered.api.get(path.format(GONE))

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["loc"][-1] == parameter
    assert "Beijing replaced by 920xxx on 2025-10-09" in error["msg"]


def test_the_same_in_a_body(renumbered: Bench) -> None:
    answer = called(renumbered, "get_kline_daily", code=GONE)
    assert answer.status_code == 422
    assert "bad parameter: code" in answer.json()["detail"]
    assert "Beijing replaced" in answer.json()["detail"]


def test_a_change_that_is_found_changes_kept_answers(own_on_both: Bench) -> None:
    path = f"/stocks/{OLD}/kline?days=30"
    warehouse = own_on_both.warehouse()
    market.fill(warehouse)
    before = own_on_both.api.get(path)
    assert before.json()["results"] == []
    change = {"code": OLD, "new_code": NEW, "date": None, "market": "SH", "name": None}
    market.put(warehouse, market.CODE_CHANGES, [change])
    warehouse.close()
    own_on_both.ticks.advance(2.0)

    after = own_on_both.api.get(path, headers={"If-None-Match": before.headers["ETag"]})

    assert (after.status_code, len(after.json()["results"])) == (200, 30)
    assert after.headers["X-Renumbered"] == f"{OLD} is {NEW}"
    assert own_on_both.api.get(path).json()["renumbered"] == [{"from": OLD, "to": NEW, "date": None}]
