"""The mounted channel by a client that shares no code with the protocol's own package."""

import asyncio
import json
from typing import Any

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

from tests.serving_api.mcp.conftest import Service


def test_it_reads_tools_resources_and_prompts(service: Service) -> None:
    async def work() -> dict[str, Any]:
        async with http_client(StreamableHTTPParameters(url=service.mcp)) as (reads, writes):
            told: dict[str, Any] = {"hello": await send_initialize(reads, writes)}
            told["ping"] = await send_ping(reads, writes)
            told["tools"] = await send_tools_list(reads, writes)
            told["found"] = await send_tools_call(reads, writes, "app_find", {"query": "600519"})
            told["wrong"] = await send_tools_call(reads, writes, "app_find", {"nothing": 1})
            told["pages"] = await send_resources_list(reads, writes)
            told["page"] = await send_resources_read(reads, writes, "ashare://datasets/news")
            told["prompts"] = await send_prompts_list(reads, writes)
            told["prompt"] = await send_prompts_get(reads, writes, "stock_overview", {"code": "600519"})
            return told

    before = len(service.balancer.served)
    told = asyncio.run(asyncio.wait_for(work(), 60))
    told = {name: one if isinstance(one, bool) else _plain(one) for name, one in told.items()}

    assert told["hello"]["serverInfo"]["name"] == "ashare-platform"
    assert told["ping"] is True
    names = {tool["name"] for tool in told["tools"]["tools"]}
    assert {"app_find", "app_macro", "ping", "available_data"} <= names
    structured = told["found"]["structuredContent"]
    assert structured["items"][0]["name"] == "贵州茅台"
    assert json.loads(told["found"]["content"][0]["text"]) == structured
    assert told["wrong"]["isError"] is True
    assert len(told["pages"]["resources"]) > 70
    assert told["page"]["contents"][0]["text"].startswith("# news")
    assert len(told["prompts"]["prompts"]) >= 37
    assert "600519" in told["prompt"]["messages"][0]["content"]["text"]
    assert {one for _, one in service.balancer.served[before:]} == set(service.balancer.backends)


def _plain(one: Any) -> Any:
    dump = getattr(one, "model_dump", None)
    return one if dump is None else dump(mode="json", by_alias=True, exclude_none=True)
