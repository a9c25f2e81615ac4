"""The job `data_cleanup`: staged time series, ledgers, files and Dagster's own history shortened, on schedule
or because somebody asked."""

from typing import Any

import dagster as dg

from core.clock import SystemClock
from core.errors import ConflictError, StorageError
from platform_assets.definitions.lake_assets import published_tables
from platform_assets.definitions.resources import RUN_RESOURCES, platform_of, run_resources
from platform_assets.definitions.run_context import ANSWER, give, opened_run
from platform_assets.definitions.run_history import RUN_DAYS, prune_runs
from platform_assets.pipeline.cleanup import cleanup
from resources.composition import Platform
from resources.folder_retention import shorten_folders
from resources.stored_settings import read_stored
from resources.warehouse.ledger_retention import LedgerRetention
from resources.warehouse.retention import scheduled_days

JOB = "data_cleanup"


@dg.op(
    required_resource_keys=RUN_RESOURCES,
    config_schema={
        "days": dg.Field(int, default_value=0, description="days that are kept; 0 = as the settings say"),
        "tables": dg.Field([str], default_value=[], description="none = every staged time series"),
    },
    out=dg.Out(dict, description="rows that each table lost"),
)
def clean_up(context: dg.OpExecutionContext) -> dict[str, Any]:
    opened = platform_of(context)
    with opened_run(context, opened, JOB) as run:
        asked = context.op_config
        if not asked["tables"]:
            today = opened.clock.now().date().isoformat()
            gone = opened.warehouse.payloads.purge(today, opened.settings.payload_days)
            context.log.info("%s upstream bodies older than PAYLOAD_DAYS deleted", gone)
        days = asked["days"] or scheduled_days(read_stored(run.warehouse.engine))
        answer = cleanup(run, days=days, tables=asked["tables"])
        if not asked["tables"]:
            context.log.info("%d partitions of months and years made", len(opened.warehouse.divide()))
            answer |= shorten_records(opened)
            context.log.info("ledgers: %s; files: %s", answer["ledgers"], answer["files"])
            answer["runs_deleted"] = prune_runs(context.instance)
            context.log.info(f"{answer['runs_deleted']} runs older than {RUN_DAYS} days deleted")
            answer["lake_files_deleted"] = _tidy_lake(context, opened)
    shown = ("cutoff", "total", "deleted", "ledgers", "files", "runs_deleted", "lake_files_deleted")
    give(context, answer, **{name: answer[name] for name in shown if name in answer})
    return answer


def _tidy_lake(context: dg.OpExecutionContext, opened: Platform) -> int:
    """Files of the published tables that no version needs any more. A table that cannot be tidied up waits
    for the next time: nothing depends on it."""
    # Loads pyarrow and deltalake, which the code server has no use for.
    from resources.lake.location import Lake  # noqa: PLC0415
    from resources.lake.upkeep import tidy  # noqa: PLC0415

    lake, deleted = Lake(opened.settings.lake_address), 0
    for name in sorted(published_tables(opened.registry)):
        try:
            deleted += tidy(lake, name).deleted if lake.has(name) else 0
        except (StorageError, ConflictError) as error:
            context.log.warning(error.message)
    context.log.info(f"{deleted} files of the published tables deleted")
    return deleted


def shorten_records(opened: Platform) -> dict[str, dict[str, int]]:
    """Rows that each ledger lost, and files that each folder lost."""
    system = SystemClock().now()
    # Some ledgers are in market time, some in system time: what is old by both clocks goes.
    now = min(opened.clock.now(), system)
    ledgers = LedgerRetention(opened.warehouse.engine).remove(now, frozenset(opened.warehouse.tables))
    return {"ledgers": ledgers, "files": shorten_folders(opened.settings.data_path, system)}


@dg.op
def cleanup_verdict(answer: dict[str, Any]) -> None:
    """The run fails when a table could not be cleaned, so that the list of runs shows it."""
    if answer["status"] != "success":
        raise dg.Failure(description=answer["message"])


@dg.job(
    name=JOB,
    description="deletes staged time series and runs older than their retention; fused tables stay whole",
    # A job that a sensor starts brings its own: attached later, Dagster would copy sensor and schedule.
    resource_defs=run_resources(),
    executor_def=dg.in_process_executor,
)
def cleanup_job() -> None:
    cleanup_verdict(clean_up.alias(ANSWER)())
