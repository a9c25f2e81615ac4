"""The cleanup as a command; a dry run counts rows without a worker."""

from typing import Any

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from resources.warehouse.retention import Retention, cutoff
from serving_api.admin.cleanup.schemas import CleanupRequest
from serving_api.admin.shared import off_loop
from serving_api.admin.waiting import carried_out, failure
from serving_api.framework.state import State

COMMAND = "cleanup"
ACCEPTED = "清理仍在后台执行，请稍后用 command_id 查询结果"


async def cleanup(state: State, body: CleanupRequest, asked_by: str) -> dict[str, Any]:
    """{status, days, cutoff, deleted{table: rows}, total, dry_run, message}. Raises InputError for a table
    that is no staged time series; Accepted; StorageError."""
    before = cutoff(state.clock.now().date(), body.days)
    registry = builtin_registry()
    tables = registry.staged_series() if body.table is None else (registry.cleaned(body.table),)
    if body.dry_run:
        deleted = await off_loop(_count, state, tables, before)
        total = sum(deleted.values())
        reported = {
            "status": "success",
            "message": f"{total} rows are older than {before}; nothing was deleted",
        }
        return {
            "days": body.days,
            "cutoff": before,
            "deleted": deleted,
            "total": total,
            "dry_run": True,
            **reported,
        }
    args = {"days": body.days, "tables": [] if body.table is None else [body.table]}
    command = await carried_out(state, COMMAND, args, asked_by, meanwhile=ACCEPTED)
    why = failure(command)
    if why is not None:
        nothing: dict[str, Any] = {"status": "failed", "deleted": {}, "total": 0, "message": why}
        return {"days": body.days, "cutoff": before, "dry_run": False, **nothing}
    names = ("status", "days", "cutoff", "deleted", "total", "message")
    return {**{name: command.result[name] for name in names}, "dry_run": False}


def _count(state: State, tables: tuple[Table, ...], before: str) -> dict[str, int]:
    warehouse = state.reading.warehouse
    retention = Retention(warehouse.engine, state.clock)
    return {table.name: retention.count(table, before) for table in tables if table.name in warehouse.tables}
