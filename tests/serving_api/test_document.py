"""The OpenAPI document, the command that prints it, the import rule, and the start of the server."""

import ast
import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest

import serving_api
from resources.listener import listen
from serving_api.framework.application import platform_routes
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.openapi import EXAMPLES
from serving_api.inspection import by_nature
from tests.serving_api.conftest import Bench, Ticks, make_app
from tests.serving_api.documented import validator_of

PACKAGE = Path(serving_api.__file__).parent
FORBIDDEN = (
    "dagster",
    "numba",
    "schedules",
    "platform_assets.pipeline",
    "platform_assets.definitions.assets",
)
WITHOUT_ROUTES = frozenset(
    {"quant/outcomes.py", "quant/scorecard/strategies.py"}
    | {
        f"interfaces/{name}.py"
        for name in ("companies", "events", "indices", "industries", "rankings", "securities", "windows")
    }
)
"""Features of one module that answer no route of their own."""
OWN_TAGS = {"/api/v1/notifications/unread"}
"""Tagged by the files behind them, not by tables."""


Document = dict[str, Any]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """The document, made once: that takes seconds. The route that serves it has a test of its own."""
    folder = tmp_path_factory.mktemp("document")
    return make_app(f"sqlite:///{folder}/w.sqlite3", folder, Ticks()).openapi()


def is_whole_feature(path: Path) -> bool:
    """Whether a module is a feature without a folder of its own: it holds the SQL that it would keep there in
    `queries.py`."""
    if str(path.relative_to(PACKAGE)) in WITHOUT_ROUTES:
        return True
    has_routes = "area_router(" in path.read_text(encoding="utf-8") and path.name != "routes.py"
    return has_routes or path.parent == PACKAGE


def test_only_queries_and_features_of_one_module_hold_sql() -> None:
    words = ("SELECT ", "UPDATE ", "INSERT ", "DELETE ", "WHERE ")
    holders = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(word in node.value for word in words)
        and path.name != "queries.py"
        and not is_whole_feature(path)
    }

    # sessions.py holds the ping.
    assert holders <= {"db/sessions.py"}


def test_the_document_is_printed_without_server_database_or_heavy_imports() -> None:
    program = (
        "import runpy, sys, io\n"
        "sys.argv = ['serving_api.openapi']\n"
        "try:\n    runpy.run_module('serving_api.openapi', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"loaded = [name for name in {FORBIDDEN!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)

    assert ran.returncode == 0, ran.stderr.decode()
    assert json.loads(ran.stdout)["paths"].keys() >= {"/health", "/api/v1/stocks/{code}/kline"}


def test_the_document_has_every_route_its_refusals_and_its_lock(own: Bench, document: Document) -> None:
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    served = {
        (route.path, method.lower()): route
        for route in platform_routes(own.api.app)
        for method in route.methods
    }
    shown = {(path, method) for path, item in document["paths"].items() for method in item}
    assert shown == served.keys()

    for (path, method), route in served.items():
        operation = document["paths"][path][method]
        statuses = set(operation["responses"])
        guarded = route.permission.name != "anyone"
        assert (operation.get("security") == [{"bearer": []}]) is guarded, path
        assert {"422", "429", "500"} <= statuses, path
        assert statuses & {"200", "202"}, path
        assert not guarded or {"401", "503"} <= statuses, path
        assert operation["x-permission"] == route.permission.name, path
        tagged = method == "get" and bool(route.serving.tables) and route.serving.cache != NO_STORE
        assert ("304" in statuses) is (tagged or path in OWN_TAGS), path
        assert route.permission.name not in {"admin", "quota"} or "403" in statuses, path
        assert operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith(
            "InvalidInput"
        )


def test_every_parameter_is_explained_and_every_body_shown(document: Document) -> None:
    schemas = document["components"]["schemas"]

    for path, item in document["paths"].items():
        for method, operation in item.items():
            for parameter in operation.get("parameters", []):
                reported = parameter.get("description") or parameter["schema"].get("description")
                assert reported, (method, path, parameter["name"])
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                shape = content["application/json"]["schema"]
                ref = next(one["$ref"] for one in [shape, *shape.get("anyOf", [])] if "$ref" in one)
                assert schemas[ref.rpartition("/")[2]]["examples"], (method, path)


def test_examples_are_what_their_models_allow(own: Bench, document: Document) -> None:
    shown = {name: one for name, one in document["components"]["schemas"].items() if "examples" in one}
    assert {"KBar", "StockDetail", "BriefQuote", "Call", "TaskChange"} <= shown.keys()

    for name, schema in shown.items():
        whole = {**schema, "components": document["components"]}
        for one in schema["examples"]:
            assert jsonschema_rs.is_valid(whole, one), name
            assert set(one) <= set(schema["properties"]), name


def test_components_have_names_of_their_own(document: Document) -> None:
    """Clients are generated from them: no module's path, no counter."""
    names = document["components"]["schemas"]

    for name in names:
        assert name.startswith("Body_") or re.fullmatch(r"[A-Z][A-Za-z0-9]+", name), name


def test_fixed_paths_come_before_codes(own: Bench) -> None:
    paths = [route.path for route in platform_routes(own.api.app)]

    for fixed in ("search", "index", "cache-stats", "batch-quotes", "batch-kline"):
        assert paths.index(f"/api/v1/stocks/{fixed}") < paths.index("/api/v1/stocks/{code}")


def test_a_port_in_use_gives_a_clear_message() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(SystemExit, match=f"port {port} on 127.0.0.1 is taken"):
            listen("127.0.0.1", port, "API_PORT")


def test_the_documentation_page_needs_nothing_from_elsewhere(own: Bench) -> None:
    page = own.api.get("//docs")

    addresses = re.findall(r'(?:src|href|url)(?:=|: )["\']([^"\']+)["\']', page.text)

    assert any(address.endswith(".js") for address in addresses)
    for address in addresses:
        assert address.startswith("/")
        assert own.api.get("/" + address).status_code == 200


def test_every_example_answer_is_what_its_route_gives(document: Document) -> None:
    """Recorded from the sample market by tests/serving_api/documented.py; dates have their form."""
    examples = orjson.loads(EXAMPLES.read_bytes())
    reads = {
        methods["get"]["operationId"]: path
        for path, methods in document["paths"].items()
        if "get" in methods
        and set(methods["get"]["responses"]["200"].get("content", {})) == {"application/json"}
    }

    assert examples.keys() <= reads.keys(), "of routes that are gone"
    empty = {name for name, path in reads.items() if path in by_nature.ROUTES}
    assert reads.keys() - examples.keys() - empty == set()
    assert [name for name, one in examples.items() if not validator_of(document, name).is_valid(one)] == []


def test_a_summary_is_a_sentence_and_every_group_is_explained(document: Document) -> None:
    explained = [tag["name"] for tag in document["tags"]]
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]

    assert {tag for operation in operations for tag in operation["tags"]} == set(explained)
    assert [one["operationId"] for one in operations if len(one["summary"].split()) < 2] == []
