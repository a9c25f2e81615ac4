"""Runs whose processes are gone."""

import logging
from collections.abc import Collection, Iterable

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter
from sqlalchemy.engine import Engine

from resources.warehouse.ledger.scheduled_run_reads import PROCESS_DIED
from resources.warehouse.sql import Sql, marks

AT_WORK = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
log = logging.getLogger(__name__)


def left_runs(instance: DagsterInstance, engine: Engine) -> list[DagsterRun]:
    """The runs that are at work, whose domain locks are given back. For a code server that starts: the
    processes of runs were children of the one before it. Runs that are queued go on."""
    runs = [record.dagster_run for record in instance.get_run_records(RunsFilter(statuses=AT_WORK))]
    release_locks(engine, run_ids=[run.run_id for run in runs])
    return runs


def fail_runs(instance: DagsterInstance, runs: Iterable[DagsterRun]) -> None:
    """End runs whose processes are gone. Dagster itself would call such a run started for ever."""
    for left in runs:
        run = instance.get_run_by_id(left.run_id)
        if run is not None and not run.is_finished:
            instance.report_run_failed(run, PROCESS_DIED)
            log.warning("run %s failed: %s", run.run_id[:8], PROCESS_DIED)


def release_locks(engine: Engine, *, run_ids: Collection[str] = (), owners: Collection[str] = ()) -> None:
    """Give back the domain locks of dead runs and commands at once instead of after their expiry."""
    sql = Sql(engine)
    for column, values in (("run_id", run_ids), ("owner", owners)):
        if values:
            sql.change(
                "UPDATE sys_domain_lock SET owner=NULL, run_id=NULL, command_id=NULL, expires_at=0 "
                f"WHERE {column} IN ({marks(list(values))})",
                tuple(values),
            )
