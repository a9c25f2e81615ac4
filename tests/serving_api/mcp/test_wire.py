"""The mounted channel on the wire: hosts, origins, refusals, and clients that go away."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn

from serving_api.live.chain import UnifiedReads
from tests.serving_api.mcp.api_process import make

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"


class Slow:
    """Reads of the market that take until somebody gives up on them."""

    def __init__(self) -> None:
        self.expect()

    def expect(self) -> None:
        """Nothing has begun yet."""
        self.begun, self.ended = threading.Event(), threading.Event()
        self.left = 0

    async def read(self, name: str) -> Any:
        self.begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            self.left += 1
            self.ended.set()


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Slow]]:
    """(address of the channel, its slow reads)."""
    folder = tmp_path_factory.mktemp("wire")
    app, reads = make(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder), Slow()
    app.state.platform.parts[UnifiedReads] = reads
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        threading.Event().wait(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp", reads
    server.should_exit = True
    thread.join(15)
    assert not thread.is_alive(), "the server ends although calls were cut"


def request(era: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A call of the tool whose reads are slow, and its headers."""
    meta: dict[str, Any] = {}
    headers = dict(HEADERS)
    if era == MODERN:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "app_market"}
    params = {"name": "app_market", "arguments": {}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers


@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
def test_the_work_of_a_cut_call_ends(slow: tuple[str, Slow], era: str) -> None:
    url, reads = slow
    reads.expect()
    body, headers = request(era)

    async def cut() -> int:
        async with httpx.AsyncClient(timeout=30) as client:
            call = asyncio.ensure_future(client.post(url, json=body, headers=headers))
            while not reads.begun.is_set():
                assert not call.done(), call.result().text
                await asyncio.sleep(0.02)
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            other = await asyncio.wait_for(client.post(url, json=ping, headers=HEADERS), 3)
            call.cancel()
            return other.status_code

    assert asyncio.run(cut()) == 200, "a slow call keeps nobody else waiting"
    assert reads.ended.wait(5)
    assert reads.left == 1


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def post(url: str, content: Any = None, **headers: str) -> httpx.Response:
    body = content if isinstance(content, bytes) else json.dumps(content or PING).encode()
    return httpx.post(url, content=body, headers={**HEADERS, **headers})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "127.0.0.1:1"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:8000"}, 200),
        ({"Host": "research.example.com"}, 200),
        ({"Host": "rebound.evil.example:8000"}, 421),
        ({"Host": "rebound.evil.example@127.0.0.1"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost", "Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost", "Origin": "http://evil.example"}, 403),
        ({"Host": "localhost", "Origin": "null"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost.evil.example"}, 403),
        ({"Host": "localhost", "Origin": "https://research.example.com"}, 200),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_allowed_hosts_and_origins(slow: tuple[str, Slow], headers: dict[str, str], status: int) -> None:
    assert post(slow[0], None, **headers).status_code == status


def test_other_requests_are_refused_as_the_protocol_says(slow: tuple[str, Slow]) -> None:
    url, _ = slow

    assert httpx.get(url, headers=HEADERS).status_code == 405
    assert httpx.delete(url, headers=HEADERS).headers["allow"] == "POST"
    assert post(slow[0], b"{").status_code == 400
    assert post(slow[0], b"[" * 100_000).status_code == 400
    assert post(slow[0], {"jsonrpc": "2.0", "id": 1}).status_code == 400
    assert post(slow[0], b"x" * (1024 * 1024 + 1)).status_code == 413
    assert post(slow[0], None, **{"MCP-Protocol-Version": "1999-01-01"}).status_code == 400
    assert post(slow[0]).status_code == 200


def test_cancelling_is_accepted(slow: tuple[str, Slow]) -> None:
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}

    assert post(slow[0], gone).status_code == 202
    assert post(slow[0]).status_code == 200
