"""Batches and quality records over what the pipeline loaded, on both engines."""

from typing import Any

import pytest

from resources.warehouse.stored import ANY
from tests.pipeline.conftest import Services
from tests.serving_api.admin.conftest import DATES, UI_PORT, FetchContext

COUNTS = "rows_in rows_ok rows_warning rows_rejected rows_unchanged rows_written rows_superseded".split()


def test_batches_are_newest_first_and_counted(ctx: FetchContext) -> None:
    answer = ctx.get("/datamgr/batches", limit=3).json()

    assert len(answer["results"]) == 3
    assert answer["stats"]["total"] == ctx.scalar("SELECT COUNT(*) FROM sys_batch")
    started = [batch["started_at"] for batch in ctx.results("/datamgr/batches", limit=500)]
    assert started == sorted(started, reverse=True)


def test_the_counts_of_a_batch_add_up(ctx: FetchContext) -> None:
    for batch in ctx.results("/datamgr/batches", fusion_type="kline_daily"):
        assert batch["rows_ok"] + batch["rows_warning"] + batch["rows_rejected"] == batch["rows_in"]
        assert batch["rows_written"] + batch["rows_unchanged"] == batch["rows_ok"] + batch["rows_warning"]


def test_a_batch_is_shown_as_it_is_stored(ctx: FetchContext) -> None:
    found = ctx.results("/datamgr/batches", fusion_type="quote_snapshot")

    fused = next(batch for batch in found if batch["table_name"] == "fusion_quote_snapshot")
    stored = ctx.warehouse.rows("sys_batch", ANY.batch_id == fused["batch_id"])[0]
    assert {name: fused[name] for name in COUNTS} == {name: stored[name] for name in COUNTS}
    assert (fused["status"], fused["trigger_type"], fused["domain"]) == ("success", "manual", "daily")
    assert (fused["run_id"], fused["run_url"]) == (None, None)
    staged = next(batch for batch in found if batch["table_name"] == "stg_quote_snapshot")
    assert fused["inputs"] == [
        {
            "table": "stg_quote_snapshot",
            "batch_ids": [staged["batch_id"]],
            "rows": ctx.scalar("SELECT COUNT(*) FROM stg_quote_snapshot"),
            "max_date": DATES[-1],
        }
    ]


def test_the_run_of_a_batch_has_a_page(ctx: FetchContext) -> None:
    batch_id = ctx.results("/datamgr/batches", limit=1)[0]["batch_id"]
    ctx.execute("UPDATE sys_batch SET run_id='run-7' WHERE batch_id=?", batch_id)

    found = ctx.results("/datamgr/batches", run_id="run-7")

    ctx.execute("UPDATE sys_batch SET run_id=NULL WHERE batch_id=?", batch_id)
    assert [batch["batch_id"] for batch in found] == [batch_id]
    assert found[0]["run_url"] == f"http://127.0.0.1:{UI_PORT}/runs/run-7"


def test_a_download_knows_its_children_and_what_they_wrote(ctx: FetchContext) -> None:
    parent = next(
        batch
        for batch in ctx.results("/datamgr/batches", fusion_type="kline_daily")
        if ".." in batch["partition_key"]
    )

    found = ctx.results(f"/datamgr/batches/{parent['batch_id']}")

    assert [output["partition_key"] for output in found["outputs"]] == list(DATES)
    assert [output["batch_id"] for output in found["outputs"]] == found["children"]
    assert sum(output["rows_written"] for output in found["outputs"]) == found["rows_written"]
    child = ctx.results(f"/datamgr/batches/{found['children'][0]}")
    assert child["parent_batch_id"] == parent["batch_id"]
    assert [output["table"] for output in child["outputs"]] == ["fusion_kline_daily"]
    assert child["children"] == []


def test_outcomes_of_upstreams_are_shown_without_response_ids(ctx: FetchContext) -> None:
    raw = next(b for b in ctx.results("/datamgr/batches") if b["table_name"] == "raw_quote")

    assert {source["src"] for source in raw["sources"]} >= {"tdx", "tencent"}
    assert all(source["rows"] > 0 and source["calls"] >= 0 for source in raw["sources"])
    assert all("fetch_ids" not in source for source in raw["sources"])


def test_an_unknown_batch_is_404(ctx: FetchContext) -> None:
    assert ctx.get("/datamgr/batches/nothing").status_code == 404
    assert ctx.results("/datamgr/batches", status="failed") == []


@pytest.fixture
def refused(bare: FetchContext) -> FetchContext:
    """A batch that was refused, with records of each severity."""
    from core.declaration.registry import builtin_registry
    from resources.warehouse.batch_records import Batch, Quality

    bare.warehouse.writer.record_failure(
        builtin_registry().dataset("kline_daily").table,
        Batch(partition_key=DATES[-1], fusion_type="kline_daily", batch_id="refused-1"),
        "no row is left; token=abc123",
        rows_in=3,
        rejected=2,
        quality=[
            Quality(
                "close>0",
                "hard",
                "rejected",
                "close is not positive",
                column="close",
                natural_key='{"code":"600519","date":"2026-08-21"}',
                code="600519",
                failed_value="-1",
                total_count=3,
            ),
            Quality(
                "amount_fits_prices",
                "soft",
                "warning",
                natural_key='{"code":"000001","da',
                code="000001",
            ),
            Quality("source_answer", "contract", "recorded", "tdx: closed"),
        ],
    )
    return bare


def test_a_refused_batch_says_why_without_secrets(refused: FetchContext) -> None:
    found = refused.results("/datamgr/batches/refused-1")

    assert (found["status"], found["error"]) == ("failed", "no row is left; token=***")
    assert (found["rows_in"], found["rows_rejected"], found["rows_written"]) == (3, 2, 0)
    assert [record["check_name"] for record in found["quality"]] == [
        "close>0",
        "amount_fits_prices",
        "source_answer",
    ]
    assert refused.results("/datamgr/batches", status="failed")[0]["batch_id"] == "refused-1"


def test_a_quality_record_names_its_row(refused: FetchContext) -> None:
    record = refused.results("/datamgr/quality-records", severity="hard")[0]

    assert record["row_key"] == {"code": "600519", "date": "2026-08-21"}
    assert (record["column_name"], record["failed_value"], record["action"]) == ("close", "-1", "rejected")
    assert record["created_at"]


def test_a_key_that_was_cut_is_shown_as_text(refused: FetchContext) -> None:
    assert refused.results("/datamgr/quality-records", code="000001")[0]["row_key"] == '{"code":"000001","da'


@pytest.mark.parametrize(
    ("params", "checks"),
    [
        ({}, ["source_answer", "amount_fits_prices", "close>0"]),
        ({"limit": 1}, ["source_answer"]),
        ({"severity": "soft"}, ["amount_fits_prices"]),
        ({"severity": "contract"}, ["source_answer"]),
        ({"code": "600519"}, ["close>0"]),
        ({"table": "fusion_kline_daily", "batch_id": "refused-1", "severity": "hard"}, ["close>0"]),
        ({"table": "fusion_margin"}, []),
        ({"batch_id": "nothing"}, []),
    ],
)
def test_quality_records_are_filtered(
    refused: FetchContext, params: dict[str, Any], checks: list[str]
) -> None:
    answer = refused.get("/datamgr/quality-records", **params).json()

    assert [record["check_name"] for record in answer["results"]] == checks
    assert answer["stats"]["total"] == (3 if "limit" in params else len(checks))


def test_wrong_filters_are_422(refused: FetchContext) -> None:
    assert refused.get("/datamgr/quality-records", severity="fatal").status_code == 422
    assert refused.get("/datamgr/quality-records", limit=0).status_code == 422
    assert refused.get("/datamgr/batches", limit=501).status_code == 422
    assert refused.get("/datamgr/sync-logs", limit=0).status_code == 422
    for path in ("/datamgr/sync-logs", "/datamgr/quality-records"):
        for code in ("60051", "AAPL", "sh000001"):
            assert refused.get(path, code=code).status_code == 200
        for wrong in ("12", "6005 19", "", "600519;"):
            assert refused.get(path, code=wrong).json()["detail"].startswith("code: ")


def test_loaded_days_have_no_hard_failures(ctx: FetchContext, loaded: Services) -> None:
    assert ctx.results("/datamgr/quality-records", severity="hard") == []
