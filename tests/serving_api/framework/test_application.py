"""The app is a FastAPI app to its users: routes, routers, middleware, instrumentation, generated clients."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from prometheus_fastapi_instrumentator import Instrumentator
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from core.errors import DeclarationError
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import Bench, Ticks, make_app

router = area_router("/api/v1/extension", "extension")


@router.get("/items/{key}")
async def item(call: Anyone, key: str) -> Answer:
    return Answer({"key": key})


@router.get("/guarded")
async def guarded(call: Admin) -> Answer:
    return Answer({"user": call.member.username})


@pytest.fixture
def extended(tmp_path: Path) -> Iterator[Bench]:
    """The app over the filled market, which a test extends before its first request."""
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    ticks = Ticks()
    warehouse = market.open_warehouse(url, tmp_path)
    warehouse.migrate()
    market.fill(warehouse)
    with running(make_app(url, tmp_path, ticks)) as api:
        yield Bench(api, ticks, url, tmp_path)
    warehouse.close()


def test_routes_of_the_app_are_those_that_it_serves(extended: Bench) -> None:
    app: FastAPI = extended.api.app
    document = extended.api.get("//openapi.json").json()

    listed = {route.path: route for route in app.routes if isinstance(route, APIRoute)}

    assert document["paths"].keys() == {path for path, one in listed.items() if one.include_in_schema}
    assert {"/api/v1/stocks/{code}/kline", "/health", "/docs"} <= listed.keys()
    assert app.url_path_for("kline", code="600519") == "/api/v1/stocks/600519/kline"


def test_an_included_router_is_served_and_documented(extended: Bench) -> None:
    app: FastAPI = extended.api.app
    assert extended.api.get("/more/extension/items/a").status_code == 404

    app.include_router(router, prefix="/api/v1/more", tags=["more"])

    answer = extended.api.get("/more/api/v1/extension/items/a")
    assert (answer.status_code, answer.json()) == (200, {"key": "a"})
    assert extended.api.get("/more/api/v1/extension/guarded").status_code == 401
    paths = extended.api.get("//openapi.json").json()["paths"]
    operation = paths["/api/v1/more/api/v1/extension/items/{key}"]["get"]
    assert operation["tags"] == ["more", "extension"]
    assert paths["/api/v1/more/api/v1/extension/guarded"]["get"]["security"] == [{"bearer": []}]


def test_a_route_of_another_place_is_an_ordinary_one(extended: Bench) -> None:
    app: FastAPI = extended.api.app
    app.get("/metrics")(lambda: PlainTextResponse("up 1"))
    app.mount("/side", Route("/page", lambda _request: PlainTextResponse("page")))

    assert extended.api.get("//metrics").text == "up 1"
    assert extended.api.get("//side/page").text == "page"
    assert "/metrics" in extended.api.get("//openapi.json").json()["paths"]


@pytest.mark.parametrize("included", [True, False])
def test_an_app_with_a_route_that_is_open_by_mistake_does_not_start(tmp_path: Path, included: bool) -> None:
    app = make_app(f"sqlite:///{tmp_path / 'warehouse.sqlite3'}", tmp_path, Ticks())
    if included:
        plain = APIRouter(prefix="/open")
        plain.get("/door")(lambda: {"open": True})
        app.include_router(plain, prefix="/api/v1")
    else:
        app.get("/api/v1/open/door")(lambda: {"open": True})

    with pytest.raises(DeclarationError, match="/api/v1/open/door names no permission"), running(app):
        pass


def test_requests_are_counted_by_their_route(extended: Bench) -> None:
    """A public instrumentation package sees every request: answered by a route, from memory, refused."""
    registry = CollectorRegistry()
    Instrumentator(registry=registry).instrument(extended.api.app)

    for _ in range(3):  # the second and third answer come from the response cache
        assert extended.api.get("/stocks/600519/kline").status_code == 200
    extended.api.get("/stocks/1/kline")
    extended.api.get("/datamgr/commands/7")
    extended.api.get("/nowhere")

    def count(handler: str, status: str) -> float | None:
        labels = {"handler": handler, "method": "GET", "status": status}
        return registry.get_sample_value("http_requests_total", labels)

    assert count("/api/v1/stocks/{code}/kline", "2xx") == 3
    assert count("/api/v1/stocks/{code}/kline", "4xx") == 1
    assert count("/api/v1/datamgr/commands/{command_id}", "4xx") == 1
    assert count("none", "4xx") == 1


class Seen:
    """Middleware that notes what route each request was served by."""

    def __init__(self, app: Any, routes: list[str]) -> None:
        self.app = app
        self.routes = routes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)
        if scope["type"] == "http":
            self.routes.append(scope["route"].path)


def test_middleware_sees_the_route_of_a_cached_answer_too(extended: Bench) -> None:
    seen: list[str] = []
    extended.api.app.add_middleware(Seen, routes=seen)

    for _ in range(2):
        assert extended.api.get("/stocks/600519/kline").status_code == 200

    assert seen == ["/api/v1/stocks/{code}/kline"] * 2


def test_operation_ids_are_unique_and_readable(extended: Bench) -> None:
    paths = extended.api.get("//openapi.json").json()["paths"]
    ids = {(method, path): one["operationId"] for path, item in paths.items() for method, one in item.items()}

    assert len(set(ids.values())) == len(ids)
    assert all(one.isidentifier() and one == one.lower() for one in ids.values())
    assert ids["get", "/api/v1/stocks/{code}/kline"] == "get_stocks_kline"
    assert ids["get", "/api/v1/stocks/{code}"] == "get_stocks_by_code"
    assert ids["post", "/api/v1/datamgr/backfill/{backfill_id}/cancel"] == "post_datamgr_backfill_cancel"
    assert ids["get", "/mcp/tools"] == "get_root_mcp_tools"
    assert ids["get", "/api/v1/mcp/tools"] == "get_mcp_tools"


def test_a_client_is_generated_from_the_document(
    extended: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a public generator; one of its functions parses an answer of the API."""
    document = tmp_path / "openapi.json"
    document.write_text(extended.api.get("//openapi.json").text)
    settings = tmp_path / "config.json"
    settings.write_text(json.dumps({"package_name_override": "generated_client", "post_hooks": []}))
    command = ["generate", "--path", str(document), "--meta", "none", "--output-path"]
    ran = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", *command, str(tmp_path / "generated_client"),
            "--config", str(settings),
        ],
        capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # A picture has no shape; of everything else the generator makes a function with typed answers.
    assert re.findall(r"WARNING parsing (.*)\.", ran.stdout + ran.stderr) == [
        "GET /api/v1/auth/avatar within auth"
    ]
    assert "Unable to process" not in ran.stdout + ran.stderr
    monkeypatch.syspath_prepend(tmp_path)

    client = importlib.import_module("generated_client.client")
    kline = importlib.import_module("generated_client.api.stocks.get_stocks_kline")

    answer = extended.api.get("/stocks/600519/kline?days=30")
    parsed = kline._parse_response(client=client.Client(base_url="http://test"), response=answer)
    assert [bar.close for bar in parsed.results] == [bar["close"] for bar in answer.json()["results"]]
