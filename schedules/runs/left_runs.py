"""Runs whose processes are gone."""

import logging
from collections.abc import Collection

from dagster import DagsterInstance, DagsterRunStatus, RunsFilter
from sqlalchemy.engine import Engine

from resources.warehouse.ledger.scheduled_run_reads import PROCESS_DIED
from resources.warehouse.sql import Sql, marks

AT_WORK = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
log = logging.getLogger(__name__)


def fail_left_runs(instance: DagsterInstance, engine: Engine) -> list[str]:
    """End every run that is at work, give back its domain locks, and return its id. For a code server that
    starts: the processes of runs were children of the one before it. Dagster itself would call such a run
    started for ever. Runs that are queued go on."""
    records = instance.get_run_records(RunsFilter(statuses=AT_WORK))
    for record in records:
        instance.report_run_failed(record.dagster_run, PROCESS_DIED)
        log.warning("run %s failed: %s", record.dagster_run.run_id[:8], PROCESS_DIED)
    ids = [record.dagster_run.run_id for record in records]
    release_locks(engine, run_ids=ids)
    return ids


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
