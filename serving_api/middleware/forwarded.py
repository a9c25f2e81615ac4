"""What a trusted proxy says of a request (X-Forwarded-For, -Proto, -Host, -Prefix), and HEAD as GET without
its body."""

import logging
import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.network_addresses import Network, customer_of, is_within
from core.request_hosts import host_of

FORWARDED = frozenset(
    {b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-prefix", b"x-forwarded-proto"}
)
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
logger = logging.getLogger(__name__)


def client_address(scope: Scope, proxies: tuple[Network, ...]) -> str:
    """The socket's peer; behind trusted proxies the last address of X-Forwarded-For that is none of them, or
    the peer where that is no address. Of IPv6 the network of a customer."""
    client = scope.get("client")
    peer = str(client[0]) if client else "unknown"
    if not proxies or not is_within(peer, proxies):
        return customer_of(peer) or peer
    forwarded = ",".join(
        value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"
    )
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    sender = next((hop for hop in reversed(hops) if not is_within(hop, proxies)), peer)
    return customer_of(sender) or customer_of(peer) or peer


def forwarded(scope: Scope) -> dict[str, Any]:
    """Changes of a request's scope by the headers of a trusted proxy. A value that is none is passed over."""
    headers = {name: value.decode("latin-1").strip() for name, value in scope["headers"]}
    changes: dict[str, Any] = {}
    scheme = headers.get(b"x-forwarded-proto", "").lower()
    if scheme in {"http", "https"}:
        changes["scheme"] = scheme
    host = headers.get(b"x-forwarded-host", "")
    if host_of(host) is not None:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        changes["headers"] = [*others, (b"host", host.encode("latin-1"))]
    prefix = headers.get(b"x-forwarded-prefix", "").rstrip("/")
    if prefix and _PREFIX.fullmatch(prefix):
        changes["root_path"] = prefix
    return changes


class ForwardedLayer:
    """Notes the client's address for the layers inside and lets links and redirects lead to where the client
    asked. Headers of anybody else than TRUSTED_PROXIES change nothing; the first ones are logged."""

    def __init__(self, app: ASGIApp, proxies: tuple[Network, ...]) -> None:
        self.app = app
        self._proxies = proxies
        self._has_warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = scope.get("client")
        if client and is_within(str(client[0]), self._proxies):
            scope = {**scope, **forwarded(scope)}
        elif not self._has_warned and not FORWARDED.isdisjoint(name for name, _ in scope["headers"]):
            self._has_warned = True
            peer = client[0] if client else "unknown"
            logger.warning("%s sends forwarded headers and is not in TRUSTED_PROXIES: they are ignored", peer)
        scope.setdefault("state", {})["client_address"] = client_address(scope, self._proxies)
        send = _relative(send, scope.get("root_path", ""))
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
            send = _without_body(send)
        await self.app(scope, receive, send)


def _relative(send: Send, prefix: str) -> Send:
    """`send` that takes scheme and host out of a redirect, which only the proxy before us knows for sure."""

    async def led(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in {307, 308}:
            headers = [
                (name, _path(value, prefix) if name == b"location" else value)
                for name, value in message["headers"]
            ]
            message = {**message, "headers": headers}
        await send(message)

    return led


def _path(location: bytes, prefix: str) -> bytes:
    target = urlsplit(location.decode("latin-1"))
    if not target.netloc:
        return location
    return urlunsplit(("", "", prefix + target.path, target.query, target.fragment)).encode("latin-1")


def _without_body(send: Send) -> Send:
    """`send` that ends the response after its headers; what follows, also of a stream, is dropped."""

    async def head(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return head
