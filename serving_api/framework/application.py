"""FastAPI with an index over its routes.

Everything that FastAPI describes works on an `Application`: `routes` is the flat list of what is served,
`include_router`, `add_middleware`, `mount` and instrumentation act on it as they do elsewhere. Two things are
ours: routes below /api/v1 name a permission or cannot be added, and a request is compared with those routes
alone whose first path segments are its own (`IndexedRouter`).
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from core.errors import DeclarationError
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import BEARER
from serving_api.framework.routing import PlatformRoute, operation_id

DEPTH = 6
"""Path segments that the index looks at; the first one is the empty text before the leading slash."""


def _fixed(route: BaseRoute) -> tuple[str, ...]:
    """The first segments of every path that a route can match; none where it is no plain route."""
    if not isinstance(route, Route):
        return ()
    segments = route.path.rstrip("/").split("/")[:DEPTH]
    varying = (at for at, segment in enumerate(segments) if "{" in segment)
    return tuple(segments[: next(varying, DEPTH)])


class IndexedRouter(APIRouter):
    """FastAPI's router, which skips routes whose fixed first segments are not those of the path.

    What is left is matched by FastAPI, in the order of `routes`. What that brings is a figure of `make bench`
    (`tests/benchmarks/shortcuts.py`): a route with many before it takes about half the time.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._indexed: list[BaseRoute] = []
        self._fixed: list[tuple[str, ...]] = []
        self._prefixes: set[tuple[str, ...]] = set()
        self._narrowed: dict[tuple[str, ...], IndexedRouter] = {}

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Below a root path the segments are not those of the routes.
        if scope["type"] != "http" or scope.get("root_path"):
            await super().app(scope, receive, send)
            return
        scope.setdefault("router", self)
        if self.routes != self._indexed:
            self._index()
        prefix = tuple(scope["path"].split("/", DEPTH)[:DEPTH])
        while prefix not in self._prefixes:
            prefix = prefix[:-1]
        narrowed = self._narrowed.get(prefix) or self._narrow(prefix)
        await super(IndexedRouter, narrowed).app(scope, receive, send)

    def _index(self) -> None:
        self._indexed = list(self.routes)
        self._fixed = [_fixed(route) for route in self._indexed]
        self._prefixes = {(), *self._fixed}
        self._narrowed = {}

    def _narrow(self, prefix: tuple[str, ...]) -> "IndexedRouter":
        """This router with the routes of the paths whose longest known beginning is `prefix`."""
        narrowed = copy.copy(self)
        narrowed.routes = [
            route
            for route, fixed in zip(self._indexed, self._fixed, strict=True)
            if fixed == prefix[: len(fixed)]
        ]
        self._narrowed[prefix] = narrowed
        return narrowed

    def include_router(self, router: APIRouter, **options: Any) -> None:
        """As FastAPI does. Raises DeclarationError for a route below /api/v1 without a permission."""
        super().include_router(router, **options)
        self._refuse_open()

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """As FastAPI does. Raises DeclarationError for a route below /api/v1 without a permission."""
        super().add_api_route(path, endpoint, **options)
        self._refuse_open()

    def _refuse_open(self) -> None:
        """Take the newest route back where it is open to all by mistake."""
        for one in iter_route_contexts(self.routes[-1:]):
            if f"{one.path}/".startswith(f"{PREFIX}/") and not isinstance(one.original_route, PlatformRoute):
                del self.routes[-1]
                raise DeclarationError(f"{one.path} names no permission; `area_router` makes routes that do")


class Application(FastAPI):
    """FastAPI over an `IndexedRouter`, with readable operation ids and the document's login scheme."""

    def __init__(self, *, lifespan: Any, **options: Any) -> None:
        super().__init__(lifespan=lifespan, generate_unique_id_function=operation_id, **options)
        self.router = IndexedRouter(
            routes=self.router.routes,
            lifespan=lifespan,
            generate_unique_id_function=operation_id,
            dependency_overrides_provider=self,
        )

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of all routes, made once."""
        document = super().openapi()
        document.setdefault("components", {})["securitySchemes"] = {"bearer": BEARER}
        return document


def add_areas(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add the routes of our routers to `app.routes` as they are.

    `include_router` would copy each of them for every app at the first request (1.2 s for 270 routes) and
    match twice; our routers need none of its options. The routes are shared by all apps of a process, so
    `dependency_overrides` of an app does not reach them.
    Raises DeclarationError for a route that names no permission.
    """
    for router in routers:
        for route in router.routes:
            if not isinstance(route, PlatformRoute):
                raise DeclarationError(f"{route!r} is no PlatformRoute: its permission is unknown")
        app.router.routes.extend(router.routes)


def platform_routes(app: FastAPI) -> Iterator[PlatformRoute]:
    """Every route of ours, in the order in which requests meet them."""
    for one in iter_route_contexts(app.routes):
        if isinstance(one.original_route, PlatformRoute):
            yield one.original_route
