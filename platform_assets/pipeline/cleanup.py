"""Rolling cleanup: staged time series are shortened by their date column, nothing else is touched.

A table that cannot be cleaned hurts no other; what a broken-off cleanup deleted stays deleted, and the
next one goes on.
"""

from collections.abc import Sequence
from typing import Any

from core.declaration.tables import Table
from core.errors import StorageError
from platform_assets.pipeline.run import PipelineRun
from resources.redact import redact
from resources.warehouse.retention import Retention, cutoff

_MOST_TEXT = 300


def cleanup(run: PipelineRun, *, days: int, tables: Sequence[str] = ()) -> dict[str, Any]:
    """{status success, partial or failed, days, cutoff, deleted{table: rows}, total, message}.

    `tables` none = every staged time series; `cutoff` is the first day that is kept. Raises InputError for
    a table that is none of them, and for fewer days than may be kept at least."""
    before = cutoff(run.clock.now().date(), days)
    chosen = [run.registry.cleaned(name) for name in tables] or list(run.registry.staged_series())
    deleted: dict[str, int] = {}
    failed: dict[str, str] = {}
    for table in chosen:
        try:
            deleted[table.name] = _one(run, table, before)
        except StorageError as error:
            failed[table.name] = redact(error.message)[:_MOST_TEXT]
        run.progress(f"{table.name}: {failed.get(table.name) or f'{deleted[table.name]} rows deleted'}")
    status = "partial" if deleted and failed else "failed" if failed else "success"
    total = sum(deleted.values())
    reported = [
        f"{total} rows older than {before} deleted",
        *(f"{name}: {why}" for name, why in failed.items()),
    ]
    return {
        "status": status,
        "days": days,
        "cutoff": before,
        "deleted": deleted,
        "total": total,
        "message": "; ".join(reported),
    }


def _one(run: PipelineRun, table: Table, before: str) -> int:
    removed = 0
    for part in Retention(run.warehouse.engine, run.clock).remove(table, before, run.batch_facts()):
        removed += part.rows
    return removed
