"""The API against requests generated from its own document: no 5xx, nothing undocumented."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from core.declaration.registry import builtin_registry
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, Ticks, bearer, make_app

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "4"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

# The specification's one read that answers 503 when no source does, as here.
EVERY_TABLE = tuple({table.name: table for table in (*market.TABLES, *builtin_registry().tables)}.values())
MAY_BE_AWAY = {"/api/v1/datamgr/market/stat"}


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> tuple[FastAPI, dict[str, str]]:
    """(the app over the filled market and empty tables of all other datasets, headers of an administrator):
    guarded routes get past their door."""
    folder = tmp_path_factory.mktemp("fuzz")
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, folder, tables=EVERY_TABLE)
    warehouse.migrate()
    market.fill(warehouse)
    warehouse.close()
    ticks = Ticks()
    with running(make_app(url, folder, ticks, tables=EVERY_TABLE)) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
    return make_app(url, folder, ticks, tables=EVERY_TABLE), bearer(token)


@pytest.fixture(scope="module")
def schema(fuzzed: tuple[FastAPI, dict[str, str]]) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", fuzzed[0])


def operations() -> list[tuple[str, str]]:
    """(method, path) of every documented operation that ends; streams have tests of their own."""
    folder = Path(tempfile.gettempdir())
    document = make_app(f"sqlite:///{folder}/never-opened.sqlite3", folder, Ticks()).openapi()
    return [
        (method, path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if "text/event-stream" not in operation["responses"].get("200", {}).get("content", {})
    ]


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), operations())
def test_no_surprise(
    schema: Any, fuzzed: tuple[FastAPI, dict[str, str]], method: str, path: str, mode: GenerationMode
) -> None:
    operation = schema[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def call(case: schemathesis.Case) -> None:
        checks = CHECKS[1:] if path in MAY_BE_AWAY else CHECKS
        case.call_and_validate(headers=fuzzed[1], checks=checks)

    try:
        call()
    except Unsatisfiable:
        if mode is not GenerationMode.NEGATIVE:
            raise
        pytest.skip("an operation without parameters has no invalid requests")
