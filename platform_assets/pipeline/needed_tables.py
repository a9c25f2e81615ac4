"""Columns that have no value without the dates of a table that they are made from (`Dataset.needs`).

The table is written all the same: the columns are null, a record says which table is missing, and the date is
asked for again when that is loaded (`schedules.tasks.outdated_rows`).
"""

from collections.abc import Collection, Sequence

from core.declaration.dataset import Dataset
from core.declaration.rules import Needed
from core.declaration.scope import Scope
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import Part
from resources.warehouse.batch_records import Quality
from resources.warehouse.ledger.loads import NOT_LOADED, first_loads


def withhold(run: PipelineRun, dataset: Dataset, parts: Sequence[Part], scope: Scope) -> None:
    """Set the columns of each part to null that need a date of a table which is not loaded."""
    if not dataset.needs or not dataset.partition.by_date:
        return
    since = min(one.window(run.calendar, scope.since)[0] for one in dataset.needs)
    tables = sorted({one.table for one in dataset.needs})
    # Codes alone may have a history of their own, of which the market has nothing.
    loads = first_loads(run.warehouse.query, tables, since, scope.until, whole=scope.codes is None)
    for part in parts:
        for one in dataset.needs:
            if part.frame.empty:
                continue
            missing = _missing(run, one, part.key, loads[one.table])
            if missing:
                part.frame[list(one.columns)] = None
                part.quality.append(_record(one, missing, part))


def _missing(run: PipelineRun, needed: Needed, day: str, loads: Collection[str]) -> list[str]:
    first = "" if needed.columns else min(loads, default=day)
    return [one for one in needed.window(run.calendar, day) if one >= first and one not in loads]


def _record(needed: Needed, missing: Sequence[str], part: Part) -> Quality:
    more = f" and {len(missing) - 1} dates before it" if len(missing) > 1 else ""
    what = ", ".join(needed.columns) or f"made from {needed.dates} trade dates"
    message = f"{what}: {needed.table} is not loaded of {missing[-1]}{more}"
    rows = len(part.frame)
    return Quality(NOT_LOADED, "soft", "table_warning", message[:500], failed_count=rows, total_count=rows,
                   sources=[needed.table])  # fmt: skip
