"""The mounted channel at /mcp: streamable HTTP of the protocol, without sessions.

The protocol's package is imported at the first request, in a thread: start-up and other routes do not
load it. Requests are independent of each other, so several API processes can serve one client.

Which Host and Origin it accepts: `core/request_hosts.py`, with the names of MCP_ALLOWED_HOSTS.
"""

import asyncio
import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from core.request_hosts import is_allowed_host, is_allowed_origin, parse_hosts
from serving_api.framework.error_responses import ErrorResponse
from serving_api.framework.state import State

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

logger = logging.getLogger(__name__)

PATHS = ("/mcp", "/mcp/")
MAX_BODY = 1024 * 1024


class Channel:
    """The protocol's server of one app. Used on its event loop."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hosts = parse_hosts(state.settings.mcp_allowed_hosts)
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._stop = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        manager = self._manager or await self._started()
        await manager.handle_request(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if not is_allowed_host(host, self._hosts):
            return ErrorResponse(421, "Host 不在允许之列：请在 MCP_ALLOWED_HOSTS 中加入该域名").response()
        if not is_allowed_origin(origin, host, self._hosts):
            return ErrorResponse(403, "Origin 不在允许之列").response()
        if scope["method"] != "POST":
            # Without sessions there are no server messages and no session to end: neither GET nor DELETE.
            return ErrorResponse(405, "Method Not Allowed", {"Allow": "POST"}).response()
        return None

    async def _started(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None:
                manager = await anyio.to_thread.run_sync(_make, self._state)
                begun = asyncio.Event()
                self._stop.clear()
                self._life = asyncio.create_task(_live(manager, begun, self._stop))
                await begun.wait()
                self._manager = manager
            return self._manager

    def close(self) -> None:
        """Stops the server; a later request starts a new one."""
        self._stop.set()
        self._manager = None


async def _live(manager: "StreamableHTTPSessionManager", begun: asyncio.Event, stop: asyncio.Event) -> None:
    """Entered and left in one task, as the manager requires."""
    async with manager.run():
        begun.set()
        await stop.wait()


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Disables the garbage collector: during the import it would scan all objects of the process again and
    again, and block every other route meanwhile (0.4 s were measured)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _make(state: State) -> "StreamableHTTPSessionManager":
    with _collecting_later():
        # Loaded at the first request: start-up and other routes do not need the protocol's package.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

        from serving_api.mcp.protocol import Protocol  # noqa: PLC0415

    server = Protocol(state).server()
    return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MAX_BODY)


def channel_of(state: State) -> Channel:
    return state.part(Channel)


class Mounted(BaseRoute):
    """The route of the channel: one path, any method."""

    path = PATHS[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and scope["path"] in PATHS:
            return Match.FULL, {"endpoint": self}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await channel_of(scope["app"].state.platform)(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        raise NoMatchFound(name, path_params)
