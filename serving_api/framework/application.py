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

KEY_SEGMENTS = 4
"""`/api/v1/stocks/...` splits into an empty text and three names."""


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path.split("/", KEY_SEGMENTS)[:KEY_SEGMENTS])


def _key(route: BaseRoute) -> tuple[str, ...] | None:
    """The first segments of every path that a route can match; None where they vary or are fewer."""
    if not isinstance(route, Route):
        return None
    key = _segments(route.path)
    return None if len(key) < KEY_SEGMENTS or any("{" in part for part in key) else key


class IndexedRouter(APIRouter):
    """FastAPI's router, which skips routes that a path cannot match.

    Of 270 routes it tries about ten, in the order of `routes` and with FastAPI's own matching. A request for
    a route far down the list takes 90 us instead of 195 us that way, for an unknown path 41 us instead of
    525 us (`make bench`: a route behind 250 others).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._indexed: list[BaseRoute] = []
        self._by_key: dict[tuple[str, ...], IndexedRouter] = {}
        self._others = self

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Below a root path the segments are not those of the routes.
        if scope["type"] != "http" or scope.get("root_path"):
            await super().app(scope, receive, send)
            return
        scope.setdefault("router", self)
        if self.routes != self._indexed:
            self._index()
        narrowed = self._by_key.get(_segments(scope["path"]), self._others)
        await super(IndexedRouter, narrowed).app(scope, receive, send)

    def _index(self) -> None:
        keyed = [(_key(route), route) for route in self.routes]
        self._by_key = {
            wanted: self._with([route for key, route in keyed if key in {None, wanted}])
            for wanted in {key for key, _ in keyed if key is not None}
        }
        self._others = self._with([route for key, route in keyed if key is None])
        self._indexed = list(self.routes)

    def _with(self, routes: list[BaseRoute]) -> "IndexedRouter":
        narrowed = copy.copy(self)
        narrowed.routes = routes
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

    `include_router` would make each of them anew for every app, at the first request (1.2 s for all), and
    match twice (320 us instead of 90 us for a route far down the list); our routers take none of its options.
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
