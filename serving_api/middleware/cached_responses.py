"""The response cache: busy reads are answered with the bytes that their route made once; JSON is compressed.

An answer with an ETag changes in its `query_time` alone until one of its tables changes. So a cached path
asks its route once per version of the tables, and the bytes before and after the time are kept. The route
stays the only place that knows parameters, shapes and headers. The middleware is inside the rate limit; the
permission of a guarded route is decided for every request. Open reads whose answer is here already do not
come this far: `known_answers.py`. `make bench` (`shortcuts`, `serving`) measures its use.
"""

import gzip
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import zstandard
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.clock import local_iso
from core.errors import PlatformError
from serving_api.db.table_versions import TableVersion
from serving_api.framework.cache_headers import is_match
from serving_api.framework.envelope import PREFIX
from serving_api.framework.routing import PlatformRoute
from serving_api.framework.state import State

MIN_BYTES = 1024
ZSTD_LEVEL, GZIP_LEVEL = 3, 1
ZSTD, GZIP = b"zstd", b"gzip"


@lru_cache(maxsize=256)
def chosen(accept: bytes) -> bytes | None:
    """The encoding that an Accept-Encoding header allows and we prefer; None = as it is."""
    weights: dict[bytes, float] = {}
    for part in accept.lower().split(b","):
        name, _, parameters = part.partition(b";")
        weights[name.strip()] = _weight(parameters)
    rest = weights.get(b"*", 0.0)
    return next((name for name in (ZSTD, GZIP) if weights.get(name, rest) > 0), None)


def _weight(parameters: bytes) -> float:
    name, _, value = parameters.strip().partition(b"=")
    if name.strip() != b"q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def compressed(body: bytes, encoding: bytes) -> bytes:
    """`body` in `encoding`; the same bytes for the same body."""
    if encoding == ZSTD:
        return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(body)
    return gzip.compress(body, GZIP_LEVEL, mtime=0)


LONGEST_QUERY = 4096
"""Longest query string, in bytes, whose answer is cached: 500 codes fit, random text does not."""
FRESH_S = 0.5
"""Seconds that a `query_time` may be old; within them the compressed bytes of an answer are reused."""

_STOCKS = f"{PREFIX}/stocks/"
_FIXED = {f"{_STOCKS}{name}": name for name in ("batch-kline", "index", "search")} | {
    f"{PREFIX}/datamgr/stock-base/list": "stock-base"
}
_TIME = b'"query_time":"'
_JSON = b"application/json"
_VARY = (b"vary", b"Accept-Encoding")
# Set for each answer when it is sent.
_OWN = {b"cache-control", b"content-length", b"content-encoding", b"vary"}

Headers = list[tuple[bytes, bytes]]
Reply = tuple[int, Headers, bytes]
"""Status, headers and body, as they are sent."""


def cached_read(path: str) -> str | None:
    """The name of the cached read of a path; None for all others."""
    if path.startswith(_STOCKS) and path.endswith("/kline"):
        return "kline"
    return _FIXED.get(path)


@dataclass
class CachedResponse:
    """A response of one version of its tables: the bytes around the query time, all in `head` without one."""

    name: str
    route: PlatformRoute
    etag: str
    headers: Headers
    head: bytes
    tail: bytes | None
    encoded: dict[bytes, tuple[bytes, bytes]] = field(default_factory=dict)
    """Encoding -> (query time within, bytes)."""
    sent_etag: bytes = b""
    unchanged: Headers = field(default_factory=list)
    """Headers of a 304."""

    def __post_init__(self) -> None:
        self.sent_etag = self.etag.encode("latin-1")
        self.unchanged = [pair for pair in self.headers if pair[0] != b"content-type"]

    @classmethod
    def of(cls, name: str, route: PlatformRoute, headers: Headers, body: bytes) -> "CachedResponse":
        """`headers` have an ETag."""
        etag = dict(headers)[b"etag"].decode("latin-1")
        own = [pair for pair in headers if pair[0] not in _OWN]
        at = body.find(_TIME)
        if at < 0:
            return cls(name, route, etag, own, body, None)
        start = at + len(_TIME)
        return cls(name, route, etag, own, body[:start], body[body.index(b'"', start) :])

    @property
    def size(self) -> int:
        """Bytes, about; with room for a compressed copy."""
        return int(1.4 * (len(self.head) + len(self.tail or b""))) + 1000

    def body(self, query_time: bytes) -> bytes:
        return self.head if self.tail is None else b"".join((self.head, query_time, self.tail))


@dataclass
class _Moment:
    """What answers of the same half second share: the market's time and Cache-Control by read."""

    until: float
    query_time: bytes
    policies: dict[str, bytes] = field(default_factory=dict)


class CachedResponses:
    """The cached responses of one app."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._routes: dict[str, PlatformRoute] = {}
        self._last = _Moment(-math.inf, b"")

    def route_of(self, name: str) -> PlatformRoute | None:
        """The route of a cached read; None before it answered once."""
        return self._routes.get(name)

    async def find(self, route: PlatformRoute, scope: Scope) -> CachedResponse | None:
        """The response to a request, if it is that of the present version of the route's tables."""
        token = (await self._state.versions.version_of(route.serving.tables)).token
        found: CachedResponse | None = self._state.cache.get(_CACHE, _key(scope), token)
        return found

    def find_at_once(self, scope: Scope) -> CachedResponse | None:
        """As `find`, of an open route, where neither a database on another machine nor a permission has to
        be asked for it; None otherwise."""
        key = _key(scope)
        held = self._state.cache.held(_CACHE, key)
        if held is None:
            return None
        cached: CachedResponse = held.value
        route = cached.route
        if not route.is_open or self._state.versions.token_at_once(route.serving.tables) != held.version:
            return None
        self._state.cache.used(_CACHE, key)
        return cached

    def reply(self, cached: CachedResponse, asked: Mapping[bytes, bytes]) -> Reply:
        """What is sent of a cached response now; `asked`: the headers of the request that matter."""
        moment = self._moment()
        policy = moment.policies.get(cached.name)
        if policy is None:
            policy = cached.route.cache_control(self._state).encode("latin-1")
            moment.policies[cached.name] = policy
        known = asked.get(b"if-none-match")
        if known and (
            known == cached.sent_etag or is_match(known.decode("latin-1"), cached.etag, answered=True)
        ):
            return 304, [*cached.unchanged, (b"cache-control", policy), _VARY], b""
        body, used = _ready(cached, moment.query_time, chosen(asked.get(b"accept-encoding", b"")))
        return 200, [*cached.headers, (b"cache-control", policy), *_packing(body, used)], body

    def _moment(self) -> _Moment:
        now = self._state.system.monotonic()
        if now >= self._last.until:
            self._last = _Moment(now + FRESH_S, local_iso(self._state.clock.now()).encode())
        return self._last

    async def store(self, name: str, scope: Scope, headers: Headers, body: bytes) -> None:
        """Cache a response of a route, unless its tables have changed since."""
        route = scope.get("route")
        etag = dict(headers).get(b"etag", b"").decode("latin-1")
        if not isinstance(route, PlatformRoute) or not etag:
            return
        self._routes[name] = route
        token = (await self._state.versions.version_of(route.serving.tables)).token
        answered: TableVersion | None = scope.get("state", {}).get("version")
        if token and answered is not None and answered.token == token:
            cached = CachedResponse.of(name, route, headers, body)
            self._state.cache.put(
                _CACHE, _key(scope), token, cached, cached.size + len(scope["query_string"])
            )


_CACHE = "hot"


def _key(scope: Scope) -> tuple[str, bytes]:
    return scope["path"], scope.get("query_string", b"")


class ResponseCacheLayer:
    """Answers cached reads from memory, everything else by `app`."""

    def __init__(self, app: ASGIApp, responses: CachedResponses) -> None:
        self.app = app
        self._responses = responses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = {name: value for name, value in scope["headers"] if name in _ASKED}
        is_cacheable = scope["method"] == "GET" and len(scope.get("query_string", b"")) <= LONGEST_QUERY
        name = cached_read(scope["path"]) if is_cacheable else None
        if name is None or not await self._answered(name, scope, asked, receive, send):
            await self.app(scope, receive, _Outgoing(self._responses, name, scope, asked, send))

    async def _answered(
        self, name: str, scope: Scope, asked: dict[bytes, bytes], receive: Receive, send: Send
    ) -> bool:
        """Whether the request was answered from memory; otherwise the route answers."""
        route = self._responses.route_of(name)
        if route is None:
            return False
        if not route.is_open:
            try:
                await route.permission.admit(Request(scope, receive))
            except PlatformError:
                return False  # refused again by the route, with its message
        cached = await self._responses.find(route, scope)
        if cached is None:
            return False
        name_route(scope, route)
        await respond(self._responses.reply(cached, asked), send)
        return True


_ASKED = {b"accept-encoding", b"if-none-match"}


class _Outgoing:
    """`send` of a route: JSON is compressed, cached reads are stored, everything else is unchanged."""

    def __init__(
        self,
        responses: CachedResponses,
        name: str | None,
        scope: Scope,
        asked: dict[bytes, bytes],
        send: Send,
    ) -> None:
        self._responses = responses
        self._name = name
        self._scope = scope
        self._asked = asked
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            if headers.get(b"content-type", b"").startswith(_JSON):
                self._start = message  # its length is known with the body
                return
            if message["status"] == 304:
                message = {**message, "headers": [*message["headers"], _VARY]}
        elif self._start is not None:
            start, self._start = self._start, None
            if not message.get("more_body"):
                await self._whole(start, message.get("body", b""))
                return
            await self._send(start)
        await self._send(message)

    async def _whole(self, start: Message, body: bytes) -> None:
        headers: Headers = list(start["headers"])
        if self._name is not None and start["status"] == 200:
            await self._responses.store(self._name, self._scope, headers, body)
        packed, used = _packed(body, chosen(self._asked.get(b"accept-encoding", b"")))
        others = [pair for pair in headers if pair[0] not in {b"content-length", b"vary"}]
        await respond((start["status"], [*others, *_packing(packed, used)], packed), self._send)


def _ready(cached: CachedResponse, query_time: bytes, encoding: bytes | None) -> tuple[bytes, bytes | None]:
    """(the body of a cached response at `query_time`, its encoding)."""
    known = cached.encoded.get(encoding) if encoding else None
    if known is not None and known[0] == query_time:
        return known[1], encoding
    body, used = _packed(cached.body(query_time), encoding)
    if used:
        cached.encoded[used] = (query_time, body)
    return body, used


def _packed(body: bytes, encoding: bytes | None) -> tuple[bytes, bytes | None]:
    """(body as it is sent, the encoding that was used)."""
    if encoding is None or len(body) < MIN_BYTES:
        return body, None
    return compressed(body, encoding), encoding


def _packing(body: bytes, used: bytes | None) -> Headers:
    encoded = [(b"content-encoding", used)] if used else []
    return [(b"content-length", str(len(body)).encode()), *encoded, _VARY]


def name_route(scope: Scope, route: PlatformRoute) -> None:
    """As the router does: instrumentation reads the route there."""
    scope["route"], scope["endpoint"] = route, route.endpoint


async def respond(reply: Reply, send: Send) -> None:
    """Send an answer that is whole."""
    status, headers, body = reply
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
