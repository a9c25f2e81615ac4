"""Routes of the API: `PlatformRoute` decides permission before the body is read, answers with 304 or a kept
answer before any work, and turns an `Answer` into bytes with its headers."""

import inspect
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, get_type_hints
from urllib.parse import parse_qsl

import orjson
from fastapi import APIRouter
from fastapi.datastructures import DefaultPlaceholder
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from core.clock import local_iso
from core.errors import DeclarationError
from serving_api.db.adjusted_reads import begin_noting
from serving_api.db.request_notes import take_notes
from serving_api.db.table_versions import TableVersion
from serving_api.framework import provisional_factors, renumbered_codes
from serving_api.framework.cache_headers import NO_STORE, PRIVATE, PUBLIC, is_match, weak_etag
from serving_api.framework.envelope import PREFIX, is_enveloped
from serving_api.framework.error_responses import UnknownQueryParameter
from serving_api.framework.openapi import UNCHANGED, enveloped, query_names, refusals, summarized
from serving_api.framework.permissions import Permission
from serving_api.framework.provisional_factors import FACTOR
from serving_api.framework.renumbered_codes import TABLE, renumbering_of
from serving_api.framework.responses import Answer, EarlyAnswer, KeptAnswer, render_answer
from serving_api.framework.state import State, state_of
from serving_api.framework.user import User

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
CachePolicy = Callable[[State], str]

MAX_JSON_BYTES = 1024 * 1024
KEPT = "answer"
"""Kept answers in the cache, by their ETag."""


@dataclass(frozen=True)
class Serving:
    """What a route says about its answers besides their model: extra top-level keys, the tables behind them
    (ETag, origin headers), its Cache-Control and the refusals beyond those that every route may give.
    `stream`: events without an end instead of one answer. `kept`: the answer depends on nothing but its
    tables, path and query, so it is kept for all who may ask until a table changes."""

    top: Sequence[tuple[str, Any]] = ()
    tables: tuple[str, ...] = ()
    cache: CachePolicy | str | None = None
    raises: tuple[int, ...] = ()
    max_body: int = MAX_JSON_BYTES
    stream: bool = False
    kept: bool = False


def serves(
    *,
    top: Sequence[tuple[str, Any]] = (),
    tables: tuple[str, ...] = (),
    cache: CachePolicy | str | None = None,
    raises: tuple[int, ...] = (),
    max_body: int = MAX_JSON_BYTES,
    stream: bool = False,
    kept: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """A decorator below that of the router: the `Serving` of an endpoint."""
    serving = Serving(top, tables, cache, raises, max_body, stream, kept)

    def add(endpoint: Endpoint) -> Endpoint:
        endpoint.serving = serving  # type: ignore[attr-defined]
        return endpoint

    return add


def _permissions(hint: Any) -> list[Permission]:
    marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Depends)]
    return [mark.dependency for mark in marks if isinstance(mark.dependency, Permission)]


def permission_of(endpoint: Callable[..., Any]) -> Permission:
    """The one permission in a signature; none, or two, is a declaration error (default deny)."""
    hints = get_type_hints(endpoint, include_extras=True).values()
    found = [mark for hint in hints for mark in _permissions(hint)]
    if len(found) != 1:
        raise DeclarationError(
            f"{endpoint.__qualname__}: a route names exactly one permission, not {len(found)}"
        )
    return found[0]


def _bounded(scope: Scope, receive: Receive, limit: int) -> Receive:
    """`receive` that raises 413 beyond `limit` bytes, announced or sent. FastAPI's own limit would answer
    before the permission is decided (401)."""
    length = dict(scope["headers"]).get(b"content-length", b"")
    announced = int(length) if length.isdigit() else 0
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        if announced > limit:
            raise HTTPException(413)
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise HTTPException(413)
        return message

    return bounded


class _Request(Request):
    """A request whose body is strict JSON. The standard library lets NaN and half characters (lone
    surrogates) through, which neither a database nor an answer can hold."""

    async def json(self) -> Any:
        return orjson.loads(await self.body())


@dataclass(frozen=True)
class Admitted:
    """What was found out of a request before its work: the caller, the version of the tables, the headers of
    the answer."""

    user: User | None
    version: TableVersion
    headers: dict[str, str]


@lru_cache(maxsize=1024)
def _etag(token: str, path: str, query: bytes) -> str:
    return weak_etag(token, path, parse_qsl(query.decode("latin-1"), keep_blank_values=True))


class PlatformRoute(APIRoute):
    """A route of the platform."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.permission = permission_of(endpoint)
        self.serving: Serving = getattr(endpoint, "serving", Serving())
        if not inspect.iscoroutinefunction(endpoint):
            raise DeclarationError(f"{endpoint.__qualname__}: endpoints are coroutines")
        if self.serving.kept and self.permission.is_personal:
            raise DeclarationError(f"{endpoint.__qualname__}: an answer to one user is not kept for others")
        self.model = options.get("response_model")
        if isinstance(self.model, DefaultPlaceholder):
            self.model = None
        if self.model is not None and is_enveloped(path):
            options["response_model"] = enveloped(self.model, self.serving.top)
        methods = options.get("methods") or {"GET"}
        is_tagged = bool(self.serving.tables) and "GET" in methods and self.serving.cache != NO_STORE
        options["responses"] = {
            **(UNCHANGED if is_tagged else {}),
            **refusals(self.permission.name, self.serving.raises, writes="GET" not in methods),
            **(options.get("responses") or {}),
        }
        extra = {"x-permission": self.permission.name, **(options.get("openapi_extra") or {})}
        if self.permission.name != "anyone":
            extra["security"] = [{"bearer": []}]
        options["openapi_extra"] = extra
        options["summary"], options["description"] = summarized(inspect.getdoc(endpoint) or "")
        super().__init__(path, endpoint, **options)
        self.query_names = query_names(self.dependant)
        self.tables = (*self.serving.tables, TABLE) if self.serving.tables else ()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Before any work: whether the caller may ask, and whether they or this process have the answer
        already. Everything else is FastAPI's."""
        known = None
        if scope["method"] in (self.methods or ()):
            known = await self._known(Request(scope, receive))
        if known is not None:
            await known(scope, receive, send)
            return
        if self.body_field is not None:
            receive = _bounded(scope, receive, self.serving.max_body)
        await super().handle(scope, receive, send)

    async def _known(self, request: Request) -> Response | None:
        state = state_of(request)
        user = await self.permission.admit(request)
        self._refuse_unknown(request)
        version = await self._version(state)
        headers = self._headers(request, state, version)
        etag, tags = headers.get("ETag"), request.headers.get("if-none-match")
        if etag is not None:
            if is_match(tags, etag):
                return Response(status_code=304, headers=headers)
            if self.serving.kept and tags != "*":
                kept: KeptAnswer | None = state.cache.get(KEPT, etag, version.token)
                if kept is not None:
                    return kept.response(local_iso(state.clock.now()), headers)
        request.state.admitted = Admitted(user, version, headers)
        return None

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def respond(request: Request) -> Response:
            state = state_of(request)
            admitted: Admitted = request.state.admitted
            notes, reads = take_notes(), begin_noting()
            notes.renumbering = await renumbering_of(state)
            try:
                response = await handle(_Request(request.scope, request.receive))
            except EarlyAnswer as early:
                response = early.answer
            if notes.failure is not None and admitted.version.token is not None:
                raise notes.failure
            changes = notes.changes.values()
            own = renumbered_codes.header_of(changes) | provisional_factors.header_of(reads)
            headers = {**admitted.headers, **own}
            if notes.failure is not None:
                headers["Cache-Control"] = NO_STORE
            etag, tags = headers.get("ETag"), request.headers.get("if-none-match")
            if etag is not None and is_match(tags, etag, answered=response.status_code == 200):
                return Response(status_code=304, headers=headers)
            if isinstance(response, Answer):
                if changes:
                    response.top[renumbered_codes.KEY] = renumbered_codes.reported(changes)
                if FACTOR in self.serving.top and reads.factor:
                    response.top[FACTOR[0]] = reads.factor
                # A slow answer was read at its end: a download reports what is stored then.
                query_time = local_iso(state.clock.now())
                sent = render_answer(response, self.path, query_time=query_time, headers=headers)
                if etag is not None and self.serving.kept and sent.status_code == 200:
                    kept = KeptAnswer.of(bytes(sent.body), query_time, own)
                    state.cache.put(KEPT, etag, admitted.version.token, kept, kept.size)
                return sent
            for name, value in headers.items():
                response.headers.setdefault(name, value)
            return response

        return respond

    async def _version(self, state: State) -> TableVersion:
        return await state.versions.version_of(self.tables)

    def _refuse_unknown(self, request: Request) -> None:
        """What changes something refuses a query parameter that it does not have: a value in the wrong place
        would be taken for not given, and the default done instead. Raises InputError."""
        if request.method == "GET":
            return
        unknown = next((name for name in request.query_params if name not in self.query_names), None)
        if unknown is not None:
            raise UnknownQueryParameter(unknown[:40], self.query_names)

    def _headers(self, request: Request, state: State, version: TableVersion) -> dict[str, str]:
        headers = {"Cache-Control": self.cache_control(state), **version.headers}
        if version.token and request.method == "GET" and headers["Cache-Control"] != NO_STORE:
            headers["ETag"] = _etag(version.token, request.scope["path"], request.scope["query_string"])
        return headers

    def cache_control(self, state: State) -> str:
        """What an answer of this moment says about its keeping."""
        policy = self.serving.cache
        if callable(policy):
            return policy(state)
        if policy is not None:
            return policy
        if self.methods != {"GET"}:
            return NO_STORE
        return PUBLIC if self.permission.name == "anyone" else PRIVATE


def area_router(prefix: str, tag: str) -> APIRouter:
    """The router of the routes below `prefix`, which name a permission each."""
    return APIRouter(
        prefix=prefix, tags=[tag], route_class=PlatformRoute, generate_unique_id_function=operation_id
    )


def operation_id(route: APIRoute) -> str:
    """The name of a route in the OpenAPI document and in clients generated from it: `get_stocks_kline`.

    It is made from the method and the path below /api/v1, which clients rely on, not from names of our
    functions. A parameter is named where the path ends with it: `get_stocks_by_code`.
    """
    method = min(route.methods or {"GET"})
    below = route.path_format.removeprefix(f"{PREFIX}/")
    parts = [part for part in below.split("/") if part]
    words = [part for part in parts[:-1] if not part.startswith("{")]
    last = parts[-1] if parts else "index"
    words.append(f"by_{last.strip('{}')}" if last.startswith("{") else last)
    root = ["root"] if below.startswith("/") else []
    return re.sub(r"\W", "_", "_".join([method.lower(), *root, *words]))
