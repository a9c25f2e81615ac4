"""What the Dagster UI can say about a table whose batch was refused before any write."""

from typing import Any

import dagster as dg

from platform_assets.definitions.materialization import refused_results
from platform_assets.pipeline.run import Refusal
from resources.warehouse.batch_records import Quality
from schedules.commands.worker import Worker
from schedules.services import Services
from simulated_market.faults import FaultPlan
from tests.definitions.in_process import InProcessRuns

DAY = "2026-08-21"


def shown(result: Any) -> dict[str, Any]:
    """Metadata of a check result or evaluation, as plain values."""
    return {name: getattr(value, "value", value) for name, value in result.metadata.items()}


def test_a_refused_answer_is_a_failed_check_with_its_reason_batch_and_sources(
    services: Services, runner: InProcessRuns, faults: FaultPlan
) -> None:
    wrong_unit = {"kind": "lots_for_shares", "args": {"board": "star"}}
    faults.replace([{"upstream": "*", "call": "*", **wrong_unit}])
    args = {"job": "security_list", "partition_key": DAY}
    asked = services.commands.enqueue("run_job", args, requested_by="admin")

    Worker(services, runner).work_once()

    run_id = str(services.commands.get(asked.id).run_id)
    kinds = {dg.DagsterEventType.ASSET_CHECK_EVALUATION}
    events = runner.instance.get_records_for_run(run_id, of_type=kinds).records
    found = {
        evaluation.asset_key.path[-1]: evaluation
        for evaluation in (
            record.event_log_entry.dagster_event.asset_check_evaluation_data for record in events
        )
    }
    quote = found["raw_quote"]
    assert (quote.check_name, quote.passed, quote.severity) == (
        "schema",
        False,
        dg.AssetCheckSeverity.ERROR,
    )
    metadata = shown(quote)
    assert "lots or shares?" in metadata["reason"]
    with services.engine.connect() as connection:
        batch = connection.exec_driver_sql(
            "SELECT batch_id, status, error FROM sys_batch WHERE table_name='raw_quote'"
        ).one()
    assert tuple(batch) == (metadata["batch_id"], "failed", metadata["reason"])
    assert "| tencent | 0 |" in metadata["sources"]
    assert "lots or shares?" in metadata["findings"]


def test_a_broken_contract_is_told_with_its_rows() -> None:
    records = [
        Quality("of_this_instrument", "contract", "rejected", "row", natural_key='{"code":"600519"}'),
        Quality(
            "of_this_instrument", "contract", "rejected", "another's close", failed_count=60, total_count=60
        ),
        Quality("source_answer", "contract", "recorded", "tencent: silent"),
        Quality("gap", "soft", "table_warning", "a day is missing"),
    ]
    key = dg.AssetKey(["raw", "raw_quote"])

    schema, gap = refused_results(
        ("schema", "gap", "fine"), key, "no row is left", [Refusal("b1", (), records)]
    )

    assert (schema.check_name, gap.check_name) == ("schema", "gap")
    assert not schema.passed
    metadata = shown(schema)
    assert (metadata["reason"], metadata["batch_id"], metadata["n_failed"]) == ("no row is left", "b1", 60)
    assert "| of_this_instrument | 60 | 60 | another's close |" in metadata["findings"]
    assert "tencent: silent" in metadata["findings"]
    assert "a day is missing" in shown(gap)["findings"]


def test_an_error_without_a_batch_still_says_why() -> None:
    (schema,) = refused_results(("schema", "gap"), dg.AssetKey("t"), "kline is held by run:1", [])

    assert shown(schema) == {"reason": "kline is held by run:1"}
