"""/mcp/tools and tools/call: JSON-RPC, both addresses, permissions; /mcp/marketplace."""

from typing import Any

import pytest

from tests.serving_api.conftest import Bench

ROOTS = ("//mcp", "/mcp")
"""The root, and below /api/v1."""


def call(bench: Bench, name: str, arguments: dict[str, Any], root: str = "//mcp", **how: Any) -> Any:
    body = {
        "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": name, "arguments": arguments},
    }  # fmt: skip
    return bench.api.post(f"{root}/tools/call", json=body, **how)


@pytest.mark.parametrize("root", ROOTS)
def test_the_tools_are_listed_with_their_schemas(bench: Bench, root: str) -> None:
    reported = bench.api.get(f"{root}/tools").json()

    assert reported["jsonrpc"] == "2.0"
    assert {"app_find", "app_hold", "app_macro", "app_schema"} <= {tool["name"] for tool in reported["tools"]}
    for tool in reported["tools"]:
        assert tool["inputSchema"]["type"] == "object"
        assert "receipts" in tool["outputSchema"]["properties"]


@pytest.mark.parametrize("root", ROOTS)
def test_a_call_answers_with_structure_and_the_same_as_text(bench: Bench, root: str) -> None:
    reported = call(bench, "app_find", {"query": "600519"}, root).json()

    assert (reported["jsonrpc"], reported["id"]) == ("2.0", 7)
    result = reported["result"]
    assert result["isError"] is False
    assert result["content"] == [], "an answer is sent once"
    assert result["structuredContent"]["items"][0]["key"] == "600519"


def test_name_and_arguments_alone_are_understood(bench: Bench) -> None:
    body = {"name": "app_find", "arguments": {"query": "600519"}}
    reported = bench.api.post("//mcp/tools/call", json=body).json()

    assert reported["id"] is None
    assert reported["result"]["structuredContent"]["items"][0]["name"] == "贵州茅台"


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ({"id": "a", "method": "tools/call", "params": {"name": "app_sell"}}, -32602, "app_sell"),
        ({"id": "a", "method": "tools/drop", "params": {"name": "app_find"}}, -32601, "tools/drop"),
        ({"jsonrpc": "2.0", "id": "a", "method": "tools/call"}, -32600, "name"),
        ({"id": "a", "name": "app_find", "arguments": {}}, -32602, "query"),
        ({"id": "a", "name": "app_find", "arguments": {"query": 5}}, -32602, "query"),
        ({"id": "a", "name": "app_info", "arguments": {"interface": "get_nothing"}}, -32602, "nearest"),
    ],
)  # fmt: skip
def test_what_the_caller_did_wrong_is_an_error_of_json_rpc(
    bench: Bench, body: dict[str, Any], code: int, says: str
) -> None:
    answer = bench.api.post("//mcp/tools/call", json=body)

    assert answer.status_code == 200
    reported = answer.json()
    assert reported["id"] == "a"
    assert reported["error"]["code"] == code
    assert says in reported["error"]["message"]
    assert "result" not in reported


def test_a_body_that_is_no_call_names_what_is_wrong(bench: Bench) -> None:
    huge = {"id": 10**30, "name": "app_macro"}  # no answer could repeat it
    for body in ([], "x", {"params": {"arguments": {}}}, {"name": "app_find", "arguments": []}, huge):
        answer = bench.api.post("//mcp/tools/call", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["detail"]


def test_a_tool_of_users_needs_a_login(bench: Bench) -> None:
    member = bench.member("holder")

    assert call(bench, "app_hold", {}).status_code == 401
    assert call(bench, "app_hold", {}, headers={"Authorization": "Bearer x.y.z"}).status_code == 401
    assert call(bench, "app_hold", {}, headers=member).json()["result"]["structuredContent"]["items"] == []
    # A token that counts for nothing closes no open door.
    assert call(bench, "app_find", {"query": "x"}, headers={"Authorization": "Bearer x"}).status_code == 200


def test_an_interface_that_writes_is_refused(bench: Bench) -> None:
    answer = call(bench, "app_info", {"interface": "delete_everything"})

    assert answer.status_code == 403
    assert answer.json() == {"detail": "interface delete_everything is not readable"}


def test_an_unavailable_database_is_a_failed_result(own: Bench) -> None:
    own.lose_database()
    reported = call(own, "app_info", {"interface": "get_kline_latest", "params": {"code": "600519"}}).json()

    assert reported["result"]["isError"] is True
    assert "sqlite" not in reported["result"]["content"][0]["text"].lower()


def test_the_marketplace_is_a_list_to_start_from(bench: Bench) -> None:
    reported = bench.api.get("//mcp/marketplace").json()

    assert reported["total"] == len(reported["items"]) == len({offer["key"] for offer in reported["items"]})
    assert reported["items"][0]["url"] == "/mcp"
