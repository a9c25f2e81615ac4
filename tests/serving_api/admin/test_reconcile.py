"""/datamgr/reconcile: one date's pairs, filtered, with the names that differ most."""

from typing import Any

import pandas as pd

from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from tests.serving_api.admin.conftest import TODAY, FetchContext

BEFORE = "2026-08-20"


def pair(day: str, dataset: str, field: str, **facts: Any) -> dict[str, Any]:
    return {
        "trade_date": day, "dataset": dataset, "field_name": field, "source_a": "tencent",
        "source_b": "eastmoney", "compared": 59, "within_count": 58, "within_pct": 98.3051,
        "tolerance": 0.1, "tolerance_kind": "pct", "median_diff": 0.0, "p95_diff": 0.0, "max_diff": 1.5,
        "only_a": 1, "only_b": 0, "drift_20d": -0.01, "mean_diff": -0.02, "status": "warning",
        "worst_json": '[{"a":1.0,"b":2.0,"code":"600519","diff":1.5}]', **facts,
    }  # fmt: skip


def put(ctx: FetchContext, *rows: dict[str, Any]) -> None:
    table = ctx.warehouse.table("calc_reconcile")
    batch = Batch(partition_key="test")
    ctx.warehouse.writer.write(table, pd.DataFrame(rows), where=Slice(), batch=batch)


def test_the_newest_date_and_the_filters(bare: FetchContext) -> None:
    none = {"compared": 0, "within_count": 0, "within_pct": None, "median_diff": None, "p95_diff": None,
            "max_diff": None, "mean_diff": None, "drift_20d": None, "worst_json": "[]",
            "status": "no_second_source"}  # fmt: skip
    put(
        bare,
        pair(BEFORE, "valuation", "pb"),
        pair(TODAY, "valuation", "pb", **none),
        pair(TODAY, "quote_snapshot", "volume"),
        pair(TODAY, "quote_snapshot", "price"),
    )

    body = bare.get("/datamgr/reconcile").json()

    assert (body["date"], body["total"]) == (TODAY, 3)
    assert [(one["dataset"], one["field"]) for one in body["results"]] == [
        ("quote_snapshot", "price"),
        ("quote_snapshot", "volume"),
        ("valuation", "pb"),
    ]
    assert body["results"][0] == {
        "dataset": "quote_snapshot", "field": "price", "source_a": "tencent", "source_b": "eastmoney",
        "tolerance": 0.1, "tolerance_kind": "pct", "compared": 59, "within": 58, "within_pct": 98.3051,
        "median_diff": 0.0, "max_diff": 1.5, "only_a": 1, "only_b": 0, "drift_20d": -0.01,
        "status": "warning", "worst": [{"code": "600519", "a": 1.0, "b": 2.0, "diff": 1.5}],
    }  # fmt: skip
    nothing = body["results"][2]
    assert (nothing["within_pct"], nothing["drift_20d"], nothing["worst"]) == (None, None, [])
    assert bare.results("/datamgr/reconcile", date=BEFORE)[0]["dataset"] == "valuation"
    assert len(bare.results("/datamgr/reconcile", dataset="quote_snapshot", field="price")) == 1
    assert bare.results("/datamgr/reconcile", field="nothing_like_it") == []


def test_wrong_questions(lite: FetchContext) -> None:
    assert bare_body(lite) == {"date": None, "total": 0}
    assert lite.get("/datamgr/reconcile", dataset="nobody").status_code == 404
    future = lite.get("/datamgr/reconcile", date="2027-01-04")
    assert (future.status_code, "date" in future.json()["detail"]) == (422, True)
    assert lite.get("/datamgr/reconcile", date="yesterday").status_code == 422


def bare_body(ctx: FetchContext) -> dict[str, Any]:
    body = ctx.get("/datamgr/reconcile").json()
    assert body["results"] == []
    return {name: body[name] for name in ("date", "total")}
