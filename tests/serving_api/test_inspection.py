"""What counts as an answer that says something, and what is asked for."""

from collections.abc import Mapping
from typing import Any

import pytest

from core.declaration.registry import builtin_registry
from serving_api.inspection import by_nature
from serving_api.inspection.walk import Walk, holds_data


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [], "stats": {"total": 0}, "ok": True, "schema_version": 1},
        {"results": None, "ok": True},
        {"items": [], "total": 0, "current": {"stage": None, "days": 0}},
        {"results": {"rows": [], "code": "600040"}},
        {"code": "600040", "phase": None, "score": None, "evidence": [], "source": "snapshot"},
        {"results": [{"close": None, "note": ""}]},
        [],
        None,
    ],
)
def test_an_answer_without_data_is_empty(answer: Any) -> None:
    assert not holds_data(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"name": "瀚岳银行"}]},
        {"results": "2026-11-20"},
        {"results": {"close": 12.3}},
        {"items": ["801010"], "total": 1},
        {"phase": "ice", "score": 12.5},
        [{"code": "600040"}],
    ],
)
def test_an_answer_with_data_holds_data(answer: Any) -> None:
    assert holds_data(answer)


def test_a_repeated_parameter_is_no_data() -> None:
    assert holds_data({"hold": 5, "picks": 3}, {"hold"})
    assert not holds_data({"hold": 5, "hits": []}, {"hold"})


def test_an_empty_installation_is_named_and_what_answers_is_not() -> None:
    def ask(method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        if path == "/openapi.json":
            needs = [{"name": "code", "in": "path", "required": True}]
            return 200, {"paths": {"/health": {"get": {}}, "/one/{code}": {"get": {"parameters": needs}}}}
        if path.endswith("/freshness"):
            return 200, {"results": {"details": {"a": {"isStale": True}, "b": {"isStale": False}}}}
        if body is not None:
            return (200, {"results": [1]}) if body["interface"] == "get_kline_daily" else (500, None)
        return 200, {"items": [query, path] if path == "/one/600041" else []}

    def query(statement: str) -> list[tuple[Any, ...]]:
        return [("600040",), ("600041",)] if "DISTINCT" in statement else []

    registry = builtin_registry()
    tables, dimensions, interfaces, routes = Walk(registry, ask, query).all()

    assert tables.looked_at == len(tables.empty) > 100
    assert (dimensions.empty, dimensions.looked_at) == (["a"], 2)
    assert set(registry.interfaces) - set(interfaces.empty) == {"get_kline_daily"}
    assert (routes.empty, routes.looked_at) == (["/health"], 2)
    assert "read routes: 1 of 2 empty, 1 unexplained" in list(routes.lines())


@pytest.mark.parametrize(("reported", "explained"), [(True, False), (False, True)])
def test_data_of_the_present_may_be_empty_until_the_first_evening(reported: bool, explained: bool) -> None:
    def query(statement: str) -> list[tuple[Any, ...]]:
        return [(1,)] if reported and "src<>" in statement else []

    tables = Walk(builtin_registry(), lambda *_: (404, None), query).tables()

    assert ("raw_reit" not in tables.unexplained) is explained
    assert "fusion_kline_daily" in tables.unexplained


@pytest.mark.parametrize(("happened", "explained"), [("2026-08-18", True), ("2026-11-02", False)])
@pytest.mark.parametrize("name", list(by_nature.QUIET["interfaces"]))
def test_what_nothing_has_happened_for_may_be_empty_until_it_happens(
    name: str, happened: str, explained: bool
) -> None:
    newest = dict.fromkeys((one.table for one in by_nature.QUIET["interfaces"].values()), happened)
    newest["fusion_kline_daily"] = "2026-11-20"

    def query(statement: str) -> list[tuple[Any, ...]]:
        return [(newest[statement.rsplit(maxsplit=1)[-1]],)] if "MAX" in statement else [("tencent",)]

    interfaces = Walk(builtin_registry(), lambda *_: (404, None), query).interfaces()

    assert name in interfaces.empty
    assert (name not in interfaces.unexplained) is explained


def test_sources_without_requests_so_far_are_probed() -> None:
    """A visitor asks them: what the platform itself fetched so far says nothing of them."""
    asked: list[str] = []

    def ask(method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        asked.append(path)
        key = [{"name": "key", "in": "path", "required": True}]
        return 200, {"paths": {"/api/v1/alt-sources/{key}": {"get": {"parameters": key}}}, "items": []}

    Walk(builtin_registry(), ask, lambda _: []).routes()

    assert "/api/v1/alt-sources/xueqiu" in asked


def test_lists_of_the_moment_wait_for_the_first_evening() -> None:
    waiting = by_nature.PRESENT["interfaces"]

    assert {"get_hot_stocks", "get_hot_rank_history"} <= waiting.keys()
    assert set(waiting.values()) == {by_nature.PRESENT["tables"]["raw_reit"]}


def test_only_what_exists_may_be_empty() -> None:
    registry = builtin_registry()
    tables = {table.name for dataset in registry.datasets.values() for table in dataset.tables()}

    assert set(by_nature.TABLES) <= tables
    assert set(by_nature.INTERFACES) <= set(registry.interfaces)
    assert set(by_nature.PRESENT["tables"]) <= tables
    assert set(by_nature.PRESENT["interfaces"]) <= set(registry.interfaces)
    assert set(by_nature.QUIET["interfaces"]) <= set(registry.interfaces)
    assert {one.table for one in by_nature.QUIET["interfaces"].values()} <= tables
    for reasons in (by_nature.TABLES, by_nature.DIMENSIONS, by_nature.INTERFACES, by_nature.ROUTES):
        assert all(len(reason) > 15 for reason in reasons.values())
