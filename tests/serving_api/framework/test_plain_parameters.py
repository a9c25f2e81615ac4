"""Parameters read without FastAPI's solving are those that FastAPI solves."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import pytest
from fastapi import Query
from fastapi.dependencies.utils import solve_dependencies
from fastapi.routing import APIRoute
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from serving_api.framework.permissions import Anyone
from serving_api.framework.plain_parameters import PlainParameters
from serving_api.framework.responses import Answer
from serving_api.framework.routing import PlatformRoute
from serving_api.routers import AREAS

ROUTES = [route for area in AREAS for route in area.routes if isinstance(route, PlatformRoute)]
PLAIN = [(route, found) for route in ROUTES if (found := PlainParameters.of(route.dependant)) is not None]
_WORDS = (
    "1 0 -1 50 500 3.5 1e3 nan true false yes qfq none hfq daily 600519 2026-08-20 20260820 A 中 +5 "
    "99999999999999999999"
)
_TEXTS = st.sampled_from([*_WORDS.split(), "", " ", " 7", "\x00"]) | st.text(max_size=6)


async def _solved(route: APIRoute, request: Request) -> tuple[dict[str, Any], list[Any]]:
    async with AsyncExitStack() as stack:
        request.scope["fastapi_inner_astack"] = request.scope["fastapi_function_astack"] = stack
        solved = await solve_dependencies(
            request=request, dependant=route.dependant, async_exit_stack=stack, embed_body_fields=False
        )
    return solved.values, solved.errors


def test_most_routes_are_plain() -> None:
    """Otherwise the way around FastAPI would not be worth its lines."""
    assert len(PLAIN) > len(ROUTES) / 2


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_is_read_is_what_fastapi_solves(data: st.DataObject) -> None:
    route, plain = data.draw(st.sampled_from(PLAIN))
    names = [field.alias for field in plain.query] + ["other"]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), _TEXTS), max_size=6))
    path = {field.alias: data.draw(_TEXTS) for field in plain.path}
    query = urlencode(pairs, errors="surrogatepass").encode()
    scope = {"type": "http", "method": "GET", "headers": [], "query_string": query, "path_params": path}

    read = plain.read(Request(dict(scope)))
    values, errors = asyncio.run(_solved(route, Request(dict(scope))))

    assert (read is None) == bool(errors)
    if read is not None:
        # By their texts: NaN is not equal to itself, and the two requests are not the same object.
        texts = [
            {name: repr(one) for name, one in side.items() if name != plain.request}
            for side in (read, values)
        ]
        assert texts[0] == texts[1]


async def _lists(call: Anyone, names: Annotated[list[str], Query()]) -> Answer:
    return Answer(names)


async def _choice(call: Anyone, kind: Literal["a", "b"] = "a", days: int | None = None) -> Answer:
    return Answer([kind, days])


async def _fresh(call: Anyone, days: Annotated[int, Query(default_factory=lambda: 5)]) -> Answer:
    return Answer(days)


async def _object(call: Anyone) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(
    ("endpoint", "is_plain"), [(_lists, False), (_choice, True), (_fresh, False), (_object, False)]
)
def test_anything_but_scalars_and_responses_is_left_to_fastapi(endpoint: Any, is_plain: bool) -> None:
    route = PlatformRoute("/api/v1/x", endpoint)

    assert (PlainParameters.of(route.dependant) is not None) is is_plain
