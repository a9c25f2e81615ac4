"""The envelope: one pure function, and one shape for every route that carries it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import ManualClock, local_iso
from serving_api.framework.application import platform_routes
from serving_api.framework.envelope import DISCLAIMER, is_enveloped, wrap
from tests.serving_api.conftest import Bench

FIXED = {"ok": True, "schema_version": 1, "query_time": "T", "disclaimer": DISCLAIMER}
FIELDS = {"ok", "schema_version", "query_time", "results", "stats", "disclaimer"}


@pytest.mark.parametrize(
    ("payload", "results", "stats", "rest"),
    [
        ({"a": 1}, {"a": 1}, {}, {}),
        ({}, {}, {}, {}),
        ([1, 2, 3], [1, 2, 3], {"total": 3}, {}),
        ([], [], {"total": 0}, {}),
        (None, None, {}, {}),
        (4.5, 4.5, {}, {}),
        ({"items": [1], "total": 9, "page": 2}, [1], {"total": 9}, {"total": 9, "page": 2}),
        ({"results": [1], "count": 4}, [1], {"total": 4}, {"count": 4}),
        ({"data": {"x": 1}, "name": "n"}, {"x": 1}, {}, {"name": "n"}),
        ({"data": 1, "items": 2, "results": 3}, 2, {}, {"data": 1}),
        ({"total": 3, "count": 4}, {"total": 3, "count": 4}, {"total": 3}, {}),
        ({"total": None, "count": 4}, {"total": None, "count": 4}, {"total": 4}, {}),
        ({"total": True}, {"total": True}, {}, {}),
        ({"items": None}, None, {}, {}),
    ],
)
def test_what_is_lifted_and_counted(payload: Any, results: Any, stats: Any, rest: dict[str, Any]) -> None:
    assert wrap(payload, query_time="T") == {**FIXED, "results": results, "stats": stats, **rest}


@pytest.mark.parametrize("payload", [{"ok": False, "items": [1]}, {"ok": True}])
def test_a_payload_with_ok_passes_through(payload: dict[str, Any]) -> None:
    assert wrap(payload, query_time="T", top={"x": 1}) is payload


def test_keys_beside_results() -> None:
    wrapped = wrap({"code": "600519"}, query_time="T", top={"as_of": "A"})

    assert wrapped == {**FIXED, "results": {"code": "600519"}, "stats": {}, "as_of": "A"}


@given(
    st.dictionaries(
        st.sampled_from(["stats", "query_time", "schema_version", "disclaimer", "items"]), st.integers()
    )
)
def test_a_payload_cannot_replace_a_field_of_the_envelope(payload: dict[str, int]) -> None:
    wrapped = wrap({**payload, "items": []}, query_time="T")

    assert {name: wrapped[name] for name in FIXED} == FIXED
    assert wrapped["results"] == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/datamgr/stats", True),
        ("/api/v1/stocks/600519/kline", True),
        ("/api/v1/stocks/{code}", True),
        ("/api/v1/datamgr/stock-base/list", False),
        ("/api/v1/datamgr/tasks/runs", False),
        ("/api/v1/tasks/runs", False),
        ("/api/v1/market/overview", False),
        ("/api/v1/auth/me", False),
        ("/health", False),
    ],
)
def test_which_paths_carry_it(path: str, expected: bool) -> None:
    assert is_enveloped(path) is expected


QUERIES = {
    "/api/v1/stocks/search": "?keyword=600519",
    "/api/v1/stocks/batch-quotes": "?codes=600519",
    "/api/v1/stocks/batch-kline": "?codes=600519",
    "/api/v1/datamgr/fusion/interfaces/search": "?q=kline",
    "/api/v1/datamgr/fusion/stocks": "?codes=600519",
    "/api/v1/industry/valuation/detail": "?industry_code=C15",
    "/api/v1/market/factors/bench": f"?codes={','.join(f'{code:06d}' for code in range(600519, 600549))}",
    "/api/v1/market/backtest": "?code=600519",
    "/api/v1/market/backtest/strategy": "?code=600519",
    "/api/v1/market/dragon-score-history": "?code=600519",
    "/api/v1/scorecard/picks": "?source=builtin",
    "/api/v1/scorecard/breakdown": "?source=builtin",
    "/api/v1/scorecard/record": "?source=builtin",
    "/api/v1/quant/pattern-performance": "?pattern=double_bottom",
    "/api/v1/datamgr/fusion/market/realtime-quote": "?codes=600519",
}


def test_every_route_answers_in_its_shape(bench: Bench) -> None:
    """GET routes that need nothing else, with an administrator's token."""
    admin = bench.admin()
    seen = 0
    for route in platform_routes(bench.api.app):
        if route.methods != {"GET"} or route.path.startswith("/api/v1/auth/") or route.serving.stream:
            continue
        code = "00700" if "/hk-finance/" in route.path else "600519"
        code = "000300" if "/fusion/index/" in route.path else code
        path = route.path.replace("{code}", code) + QUERIES.get(route.path, "")
        if "{" in path:
            continue  # needs the id of something that this market does not hold
        answer = bench.api.get(f"/{path}", headers=admin)
        if answer.status_code in route.serving.raises:
            continue  # a refusal that the route declares, for what this market does not hold
        body = answer.json()
        seen += 1
        assert answer.status_code == 200, path
        assert answer.headers["content-type"] == "application/json"
        if is_enveloped(route.path):
            assert body.keys() >= FIELDS, path
            assert body["query_time"] == "2026-08-21T15:30:00+08:00"
            assert body["disclaimer"] == "数据仅供研究参考，不构成投资建议"
        else:
            assert "schema_version" not in body, path
    assert seen >= 9


def test_every_enveloped_route_documents_the_envelope(bench: Bench) -> None:
    document = bench.api.get("//openapi.json").json()
    for path, item in document["paths"].items():
        for operation in item.values():
            success = next(status for status in operation["responses"] if status.startswith("2"))
            shown = json.dumps(operation["responses"][success])
            assert ("Envelope" in shown) is is_enveloped(path), path


def test_errors_are_never_wrapped(bench: Bench) -> None:
    for path in ("/stocks/999999", "/stocks/abc", "/stocks/search", "/datamgr/none"):
        assert bench.api.get(path).json().keys() <= {"detail", "errors"}


def test_query_time_is_the_end_of_a_long_answer(own: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download waits for its command: what it tells is what was there when it ended."""
    state = own.api.app.state.platform
    clock = ManualClock(state.clock.now())
    monkeypatch.setattr(state, "clock", clock)
    began = clock.now()

    async def waited(*_args: Any, **_how: Any) -> dict[str, Any]:
        clock.advance(timedelta(seconds=29))
        return {"status": "success", "total": 1, "saved": 1, "gap_count": 0, "details": {}, "fusion": None}

    monkeypatch.setattr("serving_api.datasets.download.routes.service.download", waited)

    answer = own.api.post("/datamgr/download/600519", params={"types": "quote"}, headers=own.admin())

    assert answer.json()["query_time"] == local_iso(began + timedelta(seconds=29))
