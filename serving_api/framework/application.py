"""The application: FastAPI with readable operation ids, whose routes below /api/v1 name a permission each."""

from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts

from core.errors import DeclarationError
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import BEARER, add_examples
from serving_api.framework.routing import PlatformRoute, operation_id


class Application(FastAPI):
    """FastAPI with readable operation ids and the login scheme in its document."""

    def __init__(self, **options: Any) -> None:
        super().__init__(generate_unique_id_function=operation_id, **options)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document of all routes, made once."""
        document = super().openapi()
        if "securitySchemes" not in document["components"]:
            document["components"]["securitySchemes"] = {"bearer": BEARER}
            add_examples(document)
        return document


def add_areas(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Add the routes of our routers to `app.routes` as they are: `include_router`, of whose options they need
    none, would make each of them once more for every app (1.2 s of the first request)."""
    for router in routers:
        app.router.routes.extend(router.routes)


def refuse_open(app: FastAPI) -> None:
    """Raises DeclarationError where a route below /api/v1 names no permission."""
    for one in iter_route_contexts(app.routes):
        if f"{one.path}/".startswith(f"{PREFIX}/") and not isinstance(one.original_route, PlatformRoute):
            raise DeclarationError(f"{one.path} names no permission; `area_router` makes routes that do")


def platform_routes(app: FastAPI) -> Iterator[PlatformRoute]:
    """Every route of ours, in the order in which requests meet them."""
    for one in iter_route_contexts(app.routes):
        if isinstance(one.original_route, PlatformRoute):
            yield one.original_route
