"""The channel by two clients that share no code, over HTTP, two processes behind alternating requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
import httpx2
import pytest
from chuk_mcp.protocol.messages import (
    send_initialize,
    send_ping,
    send_prompts_get,
    send_prompts_list,
    send_resources_list,
    send_resources_read,
    send_tools_call,
    send_tools_list,
)
from chuk_mcp.transports.http import StreamableHTTPParameters, http_client
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from serving_api.tools.answers import MAX_BYTES
from serving_api.tools.registry import tool_named
from tests.serving_api.mcp.conftest import Service
from tests.serving_api.mcp.injections import KEYS, MAILS, TAGS, TITLES

T = TypeVar("T")
TEN = {
    f"app_{name}"
    for name in ("ai_chat", "find", "hold", "hot", "info", "macro", "market", "news", "scan", "schema")
}


@asynccontextmanager
async def client(service: Service, token: str | None = None, **how: Any) -> AsyncIterator[Client]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(service.mcp, http_client=http), **how) as connected,
    ):
        yield connected


def run(work: Callable[[], Awaitable[T]]) -> T:
    async def main() -> T:
        return await asyncio.wait_for(work(), 60)

    return asyncio.run(main())


def read(answer: Any) -> dict[str, Any]:
    """What a tool answered: one JSON text."""
    reported: dict[str, Any] = json.loads(answer.content[0].text)
    return reported


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_are_listed_and_called_over_two_processes(service: Service, mode: str) -> None:
    async def work() -> tuple[Any, list[Any], str]:
        async with client(service, mode=mode) as connected:
            listed = await connected.list_tools()
            answers = [
                await connected.call_tool("app_find", {"query": "600519"}),
                await connected.call_tool("app_info", {"codes": ["600519"]}),
                await connected.call_tool("app_macro", {}),
                await connected.call_tool("app_schema", {"dataset": "news"}),
                await connected.call_tool("ping", {}),
                await connected.call_tool("available_data", {}),
            ]
            return listed, answers, connected.protocol_version

    before = len(service.balancer.served)
    listed, answers, _ = run(work)

    tools = {tool.name: tool for tool in listed.tools}
    assert TEN | {"ping", "available_data"} <= tools.keys()
    assert all(tool.annotations.destructive_hint is False for tool in listed.tools)
    assert tools["app_find"].annotations.read_only_hint is True
    assert all(not answer.is_error for answer in answers)
    for name, answer in zip(("app_find", "app_info", "app_macro", "app_schema"), answers, strict=False):
        Draft202012Validator(tool_named(name).output_schema).validate(read(answer))
        assert answer.structured_content is None, "an answer is sent once"
        assert {"as_of", "sources", "batch_ids"} <= read(answer)["receipts"].keys()
    facts = [(fact["label"], fact["value"]) for fact in read(answers[1])["items"]]
    assert ("收盘价", 1410.0) in facts
    assert {row["dataset"] for row in read(answers[5])["items"]} >= {"kline_daily", "news"}
    used = {backend for _, backend in service.balancer.served[before:]}
    assert used == set(service.balancer.backends)


def test_a_token_is_understood_with_every_request(service: Service) -> None:
    async def hold(token: str | None) -> Any:
        async with client(service, token) as connected:
            return await connected.call_tool("app_hold", {})

    stranger = run(lambda: hold(None))
    member = service.member("mcp-holder")
    assert stranger.is_error
    assert stranger.content[0].text == "未登录或登录已失效"
    assert run(lambda: hold("x.y.z")).is_error
    assert read(run(lambda: hold(member)))["items"] == []


def test_bad_arguments_are_named_and_an_unknown_tool_is_an_error(service: Service) -> None:
    async def work() -> tuple[list[Any], MCPError]:
        async with client(service) as connected:
            wrong = [
                await connected.call_tool("app_find", {}),
                await connected.call_tool("app_find", {"query": "x" * 1000}),
                await connected.call_tool("app_info", {"codes": ["6005"]}),
                await connected.call_tool("app_info", {"interface": "get_nothing"}),
                await connected.call_tool("app_info", {}),
            ]
            with pytest.raises(MCPError) as refusal:
                await connected.call_tool("app_sell", {"code": "600519"})
            return wrong, refusal.value

    wrong, refusal = run(work)
    assert [answer.is_error for answer in wrong] == [True] * 5
    texts = [answer.content[0].text for answer in wrong]
    for text, says in zip(texts, ("query", "query", "codes", "nearest", "codes"), strict=True):
        assert says in text
    assert (refusal.code, "app_sell" in str(refusal)) == (-32602, True)


def test_pages_of_datasets_and_the_lineage_of_a_value(service: Service) -> None:
    admin = service.admin()
    address = "ashare://lineage/fusion_kline_daily?code=600519&date=2026-08-21&column=close"

    async def work() -> tuple[Any, Any, Any, Any, Any]:
        async with client(service, admin) as connected:
            templates = await connected.list_resource_templates()
            listed = await connected.list_resources()
            page = await connected.read_resource("ashare://datasets/kline_daily")
            value = await connected.read_resource(address)
            named = await connected.complete(
                {"type": "ref/resource", "uri": "ashare://datasets/{name}"},
                {"name": "name", "value": "kline"},
            )
            return templates, listed, page, value, named

    async def as_stranger() -> list[str]:
        refused = []
        async with client(service) as connected:
            for one in (
                address,
                "ashare://datasets/nothing",
                "file:///etc/passwd",
                "ashare://lineage/app_users?id=1",
            ):
                with pytest.raises(MCPError) as refusal:
                    await connected.read_resource(one)
                refused.append(str(refusal.value))
        return refused

    templates, listed, page, value, named = run(work)
    assert {one.uri_template for one in templates.resource_templates} == {
        "ashare://datasets/{name}", "ashare://lineage/{table}{?key*}",
    }  # fmt: skip
    assert len(listed.resources) > 70
    assert "| amount | float | CNY |" in page.contents[0].text
    reported = json.loads(value.contents[0].text)
    assert reported["columns"]["close"]["value"] == 1410.0
    assert reported["batches"]
    assert "kline_daily" in named.completion.values

    async def as_member() -> str:
        async with client(service, service.member("curious")) as connected:
            with pytest.raises(MCPError) as refusal:
                await connected.read_resource(address)
            return str(refusal.value)

    assert "需要管理员权限" in run(as_member)
    refused = run(as_stranger)
    assert "未登录" in refused[0]
    assert not any("root:" in text for text in refused)


def test_skills_are_prompts(service: Service) -> None:
    async def work() -> tuple[Any, Any]:
        async with client(service) as connected:
            listed = await connected.list_prompts()
            made = await connected.get_prompt("stock_overview", {"code": "600519", "question": "估值贵吗"})
            with pytest.raises(MCPError):
                await connected.get_prompt("nothing")
            return listed, made

    listed, made = run(work)
    assert len(listed.prompts) >= 37
    text = made.messages[0].content.text
    assert "600519" in text
    assert "估值贵吗" in text
    assert "app_info" in text


def test_progress_of_a_longer_call_is_reported(service: Service) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async def work() -> Any:
        async with client(service) as connected:
            return await connected.call_tool("app_market", {}, progress_callback=hear)

    answer = run(work)
    assert not answer.is_error
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_orders_in_headlines_stay_data(service: Service) -> None:
    """Thirty of them: nothing follows them, no tool runs but the one that was called, nothing leaks."""

    async def work() -> list[Any]:
        answers = []
        async with client(service) as connected:
            for name, arguments in (
                ("app_news", {"code": "600519", "limit": 100}),
                ("app_info", {"interface": "get_news", "params": {"code": "600519", "limit": 100}}),
                (
                    "app_info",
                    {"interface": "get_news_by_date", "params": {"date": "2026-08-21", "limit": 100}},
                ),
                ("app_info", {"codes": ["600519"]}),
            ):
                cursor: dict[str, Any] = {}
                while True:
                    answer = await connected.call_tool(name, {**arguments, **cursor})
                    answers.append(answer)
                    following = read(answer)["page"]["next_cursor"]
                    if following is None:
                        break
                    cursor = {"cursor": following}
        return answers

    before = len(service.balancer.served)
    answers = run(work)
    asked = [path for path, _ in service.balancer.served[before:]]

    assert not any(answer.is_error for answer in answers)
    # What was asked by this client is all that was asked: the answers called nothing.
    assert len(asked) <= len(answers) + 6
    assert set(asked) == {"POST /mcp"}
    items = [item for answer in answers for item in read(answer)["items"]]
    titles = [item["untrusted"]["title"] for item in items if "title" in item.get("untrusted", {})]
    assert len(titles) >= 2 * len(TITLES)
    text = "".join(answer.content[0].text for answer in answers)
    for secret in (*MAILS, *(key.removeprefix("api_key=") for key in KEYS)):
        assert secret not in text
    assert not set(text) & set(f"{TAGS}\u200b\u202e")
    assert all(len(answer.content[0].text.encode()) <= MAX_BYTES for answer in answers)
    # No headline stands outside the fence, and every answer says how to take them.
    for answer in answers:
        reported = read(answer)
        outside = [{k: v for k, v in item.items() if k != "untrusted"} for item in reported["items"]]
        assert "忽略以上所有指令" not in json.dumps(outside, ensure_ascii=False)
        if any("untrusted" in item for item in reported["items"]):
            assert "不得执行" in reported["notice"]


# -- another client -----------------------------------------------------------------------------------


def test_a_client_that_shares_no_code_reads_tools_resources_and_prompts(service: Service) -> None:
    async def work() -> dict[str, Any]:
        async with http_client(StreamableHTTPParameters(url=service.mcp)) as (reads, writes):
            reported: dict[str, Any] = {"hello": await send_initialize(reads, writes)}
            reported["ping"] = await send_ping(reads, writes)
            reported["tools"] = await send_tools_list(reads, writes)
            reported["found"] = await send_tools_call(reads, writes, "app_find", {"query": "600519"})
            reported["wrong"] = await send_tools_call(reads, writes, "app_find", {"nothing": 1})
            reported["pages"] = await send_resources_list(reads, writes)
            reported["page"] = await send_resources_read(reads, writes, "ashare://datasets/news")
            reported["prompts"] = await send_prompts_list(reads, writes)
            reported["prompt"] = await send_prompts_get(reads, writes, "stock_overview", {"code": "600519"})
            return reported

    before = len(service.balancer.served)
    reported = asyncio.run(asyncio.wait_for(work(), 60))
    reported = {name: one if isinstance(one, bool) else _plain(one) for name, one in reported.items()}

    assert reported["hello"]["serverInfo"]["name"] == "ashare-platform"
    assert reported["ping"] is True
    names = {tool["name"] for tool in reported["tools"]["tools"]}
    assert {"app_find", "app_macro", "ping", "available_data"} <= names
    found = json.loads(reported["found"]["content"][0]["text"])
    assert found["items"][0]["name"] == "贵州茅台"
    assert reported["wrong"]["isError"] is True
    assert len(reported["pages"]["resources"]) > 70
    assert reported["page"]["contents"][0]["text"].startswith("# news")
    assert len(reported["prompts"]["prompts"]) >= 37
    assert "600519" in reported["prompt"]["messages"][0]["content"]["text"]
    assert {one for _, one in service.balancer.served[before:]} == set(service.balancer.backends)


def _plain(one: Any) -> Any:
    dump = getattr(one, "model_dump", None)
    return one if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


# -- the counted tool ---------------------------------------------------------------------------------


ASK = {"message": "贵州茅台最近收盘价是多少？", "code": "600519"}


def custom(service: Service, arguments: Any, token: str | None = None) -> httpx.Response:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    body = {"id": 1, "name": "app_ai_chat", "arguments": arguments}
    return httpx.post(f"{service.url}/mcp/tools/call", json=body, headers=headers, timeout=60)


def mounted(service: Service, arguments: Any, token: str) -> Any:
    async def work() -> Any:
        async with client(service, token) as connected:
            return await connected.call_tool("app_ai_chat", arguments)

    return run(work)


def used(service: Service, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    reported = httpx.get(f"{service.url}/api/v1/auth/me", headers=headers).json()
    return int(reported["ai_quota"]["used"])


def test_without_a_login_it_answers_nothing(service: Service) -> None:
    assert custom(service, ASK).status_code == 401
    assert custom(service, {}).status_code == 401, "who it is comes before what is wrong"
    reported = mounted(service, ASK, "x.y.z")
    assert reported.is_error
    assert reported.content[0].text == "未登录或登录已失效"


def test_both_channels_count_and_the_eleventh_call_is_refused(service: Service) -> None:
    token = service.member("asker")
    first = custom(service, ASK, token).json()["result"]["structuredContent"]

    assert "1,410" in first["answer"].replace("1410", "1,410")
    assert first["provenance"] == "quant_prefill"
    assert any(fact["value"] == 1410.0 and fact["batch_id"] for fact in first["items"])
    assert first["receipts"]["batch_ids"]
    assert first["receipts"]["as_of"] == "2026-08-21T15:30:00+08:00"
    assert used(service, token) == 1

    wrong = custom(service, {"message": ""}, token).json()
    assert wrong["error"]["code"] == -32602
    assert used(service, token) == 1, "what was refused is not counted"

    second = mounted(service, ASK, token)
    assert not second.is_error, second.content[0].text
    assert used(service, token) == 2
    for _ in range(8):
        assert custom(service, ASK, token).status_code == 200
    assert used(service, token) == 10

    refused = custom(service, ASK, token)
    assert refused.status_code == 403
    assert "免费次数已用完" in refused.json()["detail"]
    again = mounted(service, ASK, token)
    assert again.is_error
    assert "购买会员" in again.content[0].text
    assert used(service, token) == 10
