"""A partition without rows is not green, unless it was answered that there is nothing."""

from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from resources.warehouse.ledger.missing_partitions import has_dates, table_of
from schedules.services import Services
from serving_api.app import create_app
from tests.definitions.conftest import NOW
from tests.definitions.in_process import InProcessRuns
from tests.definitions.test_sync_runs import carried_out, rows
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, bearer, make_settings

WEEK = ("2026-08-17", "2026-08-18", "2026-08-19", "2026-08-20", "2026-08-21")


def materialized(runner: InProcessRuns, layer: str, table: str) -> dict[str, Any]:
    """Partition -> metadata of its newest materialization."""
    key = dg.AssetKey([layer, table])
    records = runner.instance.fetch_materializations(key, limit=1000, ascending=True).records
    return {
        str(one.partition_key): {
            name: value.value for name, value in one.asset_materialization.metadata.items()
        }
        for one in records
    }


def test_dates_of_which_nothing_is_staged_fail_and_name_what_to_load(
    services: Services, runner: InProcessRuns
) -> None:
    """Launched as the UI does: an asset of the global job, with a range of partitions."""
    from schedules.code_location import defs

    made = defs.resolve_implicit_global_asset_job_def()
    result = made.execute_in_process(
        instance=runner.instance,
        raise_on_error=False,
        asset_selection=[dg.AssetKey(["dwd", "fusion_margin"])],
        tags={
            "dagster/asset_partition_range_start": WEEK[0],
            "dagster/asset_partition_range_end": WEEK[-1],
        },
    )

    assert not result.success
    assert materialized(runner, "dwd", "fusion_margin") == {}
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    reason = failure.step_failure_data.user_failure_data.description
    assert reason == (
        "fusion_margin: nothing is stored of 2026-08-17: load stg_margin of 2026-08-17 first, from "
        "exchange_margin, raw_margin, aux_rzrq"
    )
    checks = [
        event.asset_check_evaluation_data
        for event in result.all_events
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    assert [(one.check_name, one.passed) for one in checks] == [("schema", False)]
    batches = rows(services, "SELECT partition_key, status FROM sys_batch WHERE table_name='fusion_margin'")
    # The figures of the newest date are published on the next one.
    assert sorted(set(batches)) == [(day, "failed") for day in WEEK[:-1]]


def test_grid_gaps_freshness_and_dagster_agree_over_a_week_with_holes(
    services: Services, runner: InProcessRuns, tmp_path: Path
) -> None:
    """Every watched table and date of a week of which jobs loaded some dates only."""
    loads: tuple[tuple[str, dict[str, Any]], ...] = (
        ("fusion_kline_sync", {"partition_key": WEEK[0]}),
        ("fusion_kline_sync", {"partition_key": WEEK[2]}),
        ("fusion_kline_sync", {"partition_key": WEEK[4]}),
        ("margin", {"partition_range": [WEEK[1], WEEK[4]]}),
        ("block_trade", {"partition_range": [WEEK[0], WEEK[3]]}),
        ("fund_flow", {"partition_range": [WEEK[3], WEEK[4]]}),
        ("market_phase_sync", {"partition_key": WEEK[1]}),
        ("market_phase_sync", {"partition_key": WEEK[2]}),
        ("valuation", {"partition_key": WEEK[1]}),
    )
    for job, how in loads:
        carried_out(services, runner, job, **how)

    app = create_app(
        make_settings(tmp_path, warehouse_url=f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"),
        clock=FrozenClock(datetime.fromisoformat(NOW)),
    )
    registry = builtin_registry()
    owners = {table.name: one for one in registry.datasets.values() for table in one.tables()}
    layers = {table.name: str(table.layer) for table in registry.tables}
    with running(app) as api:
        token = bearer(api.post("/auth/login", json=ADMIN).json()["access_token"])
        grid = api.get("/datamgr/day-grid", params={"days": 5}, headers=token).json()
        gaps = api.get("/datamgr/gaps", params={"page_size": 200}, headers=token).json()
        fresh = api.get("/datamgr/stats/freshness", headers=token).json()["results"]["details"]
    missing = {(one["dataset"], one["partition"]) for one in gaps["results"]}
    assert grid["dates"] == list(WEEK)
    seen, wrong = set(), []
    for row in grid["results"]:
        name = row["table"]
        declared = registry.trade_days[name]
        if declared.partition not in (Partition.TRADE_DATE, Partition.EVENT_DATE):
            continue
        done = materialized(runner, layers[name], name)
        with_gaps = has_dates(owners[name]) and table_of(owners[name]) == name
        cells = dict(zip(WEEK, row["statuses"], strict=True))
        seen |= set(cells.values())
        first = next((day for day in WEEK if cells[day] in LOADED), "9")
        for day, status in cells.items():
            if (day in done) != (status in LOADED):
                wrong.append((name, day, status, "Dagster"))
            if with_gaps and day > first:
                gap = (owners[name].name, day) in missing
                if gap != (status in ("failed", "not_run")):
                    wrong.append((name, day, status, "gaps"))
            if status == "empty" and not str(done[day].get("note")).startswith("0 rows: "):
                wrong.append((name, day, status, "note"))
        filled = [day for day in WEEK if cells[day] in LOADED and cells[day] != "empty"]
        if declared.partition is Partition.TRADE_DATE:
            latest = fresh[name]["latestDate"]
            if latest != (filled[-1] if filled else None):
                wrong.append((name, latest, cells, "freshness"))
    assert wrong == []
    assert seen >= {"complete", "not_run", "not_due"}, seen


LOADED = ("complete", "fallback", "held", "empty")
