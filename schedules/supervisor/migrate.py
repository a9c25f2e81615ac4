"""`python -m schedules.supervisor.migrate`: bring the warehouse up to the declarations, publish the tasks."""

import os
import sys

import sqlalchemy as sa

from core.declaration.registry import builtin_registry
from core.errors import PlatformError, StorageError
from platform_assets.task_table import TASKS
from resources import logs
from resources.composition import market_clock, open_warehouse, refuse_other_world
from resources.redact import redact
from resources.settings import Settings, process_settings
from resources.warehouse.ledger.tasks_state import TaskTable

CONNECT_S = 5


def migrate(settings: Settings) -> list[str]:
    """Create what is missing; returns what was added. Idempotent. InputError for a warehouse that was filled
    from another market."""
    try:
        warehouse = open_warehouse(settings, builtin_registry(), market_clock(settings))
        try:
            added = warehouse.migrate()
            refuse_other_world(settings, warehouse)
            TaskTable(warehouse.engine).publish(TASKS)
        finally:
            warehouse.close()
    except StorageError as error:
        raise StorageError(f"the warehouse ({settings.warehouse_variables}): {error.message}") from error
    return added


def make_dagster_storage(settings: Settings) -> None:
    """Create Dagster's own tables once, before several of its processes try to at the same time. An API
    alone has no Dagster. Raises StorageError when its database refuses or is away."""
    if not os.environ.get("DAGSTER_HOME") or settings.role == "web":
        return
    if settings.dagster_postgres_url:
        reach_postgres(settings.dagster_postgres_url)
    from dagster import DagsterInstance  # noqa: PLC0415  a web role has no Dagster

    try:
        with DagsterInstance.get() as instance:
            instance.get_runs_count()
            instance.event_log_storage.get_records_for_run("none", limit=1)
            instance.all_instigator_state()
    except sa.exc.DBAPIError as error:
        raise StorageError(f"Dagster's storage: {_first_line(error)}") from error


def reach_postgres(url: str) -> None:
    """Connect once, before Dagster does: its own error is a page of retries. Raises StorageError."""
    try:
        engine = sa.create_engine(url, connect_args={"connect_timeout": CONNECT_S})
        try:
            engine.connect().close()
        finally:
            engine.dispose()
    except sa.exc.DBAPIError as error:
        raise StorageError(f"DAGSTER_POSTGRES_URL: {_first_line(error)}") from error
    except (sa.exc.ArgumentError, ValueError):
        raise StorageError("DAGSTER_POSTGRES_URL: no database URL") from None


def _first_line(error: sa.exc.DBAPIError) -> str:
    return redact(str(error.orig)).strip().partition("\n")[0]


def main() -> int:
    try:
        settings = process_settings()
        logs.configure(settings, "migrate")
        added = migrate(settings)
        make_dagster_storage(settings)
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    sys.stdout.write(f"warehouse is up to date, {len(added)} additions\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
