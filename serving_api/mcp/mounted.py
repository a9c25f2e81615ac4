"""The mounted channel at /mcp: streamable HTTP of the protocol, without sessions.

The protocol's package is imported at the first request, in a thread: start-up and other routes do not
load it. Requests are independent of each other, so several API processes can serve one client.

A foreign web page can make a browser send requests here, and with a name that resolves to this machine
(DNS rebinding) even read the responses. A numeric address and `localhost` cannot be rebound; any other
name has to be listed in MCP_ALLOWED_HOSTS. An Origin, which only browsers send, must be of the same host.
"""

import asyncio
import gc
import ipaddress
import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio.to_thread
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from serving_api.framework.error_responses import ErrorResponse
from serving_api.framework.state import State

LOCAL = "localhost"


def host_of(value: str) -> str | None:
    """The host of a Host header, lower case, without its port; None for an invalid one."""
    try:
        split = urlsplit(f"//{value}")
        host, _ = split.hostname, split.port
    except ValueError:
        return None
    if not host or split.path or split.query or split.fragment or "@" in value:
        return None
    return host.rstrip(".")


def is_allowed_host(value: str | None, listed: Collection[str]) -> bool:
    """Whether a Host header has a numeric address, this machine, or a listed name."""
    host = host_of(value) if value else None
    if host is None:
        return False
    if host == LOCAL or host in listed:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_allowed_origin(origin: str | None, host: str | None, listed: Collection[str]) -> bool:
    """Whether a request has no Origin, or that of the requested host, or of a listed name."""
    if origin is None:
        return True
    scheme, _, rest = origin.partition("://")
    own = host_of(rest) if scheme in {"http", "https"} else None
    return own is not None and (own in listed or (host is not None and own == host_of(host)))


def parse_hosts(text: str) -> frozenset[str]:
    """MCP_ALLOWED_HOSTS as a set: a comma-separated list of names, ports are ignored."""
    found = (host_of(part.strip().lower()) for part in text.split(",") if part.strip())
    return frozenset(name for name in found if name)


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
