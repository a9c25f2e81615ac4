"""`python -m schedules.migrate`: bring the warehouse up to the declarations and publish the task table."""

import os
import sys

from platform_assets.declaration.registry import builtin_registry
from resources import logs
from resources.calendar import shipped_calendar
from resources.errors import PlatformError
from resources.platform import market_clock, open_warehouse
from resources.settings import Settings, process_settings
from resources.warehouse.ledger.tasks_state import TaskTable
from schedules.tasks import TASKS


def migrate(settings: Settings) -> list[str]:
    """Create what is missing; returns what was added. Idempotent."""
    warehouse = open_warehouse(settings, builtin_registry(), market_clock(settings, shipped_calendar()))
    try:
        added = warehouse.migrate()
        TaskTable(warehouse.engine).publish(TASKS)
    finally:
        warehouse.close()
    return added


def make_dagster_storage() -> None:
    """Create Dagster's own tables once, before several of its processes try to at the same time."""
    if os.environ.get("DAGSTER_HOME"):
        from dagster import DagsterInstance

        with DagsterInstance.get() as instance:
            instance.get_runs_count()
            instance.event_log_storage.get_records_for_run("none", limit=1)
            instance.all_instigator_state()


def main() -> int:
    try:
        settings = process_settings()
        logs.configure(settings, "migrate")
        added = migrate(settings)
        make_dagster_storage()
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    sys.stdout.write(f"warehouse is up to date, {len(added)} additions\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
