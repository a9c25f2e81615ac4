"""Columns that have no value of a date of which a table that they need is not loaded (`Dataset.needs`).

The table is written all the same: the columns are null, a record says which table is missing, and the date is
asked for again when that is loaded (`schedules.tasks.outdated_rows`).
"""

from collections.abc import Sequence

from core.declaration.dataset import Dataset
from core.declaration.scope import Scope
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import Part
from resources.warehouse.batch_records import Quality
from resources.warehouse.ledger.loads import NOT_LOADED, whole_batches


def withhold(run: PipelineRun, dataset: Dataset, parts: Sequence[Part], scope: Scope) -> None:
    """Set the columns of each part to null that need a table which is not loaded of its date."""
    if not dataset.needs:
        return
    batches = whole_batches(run.warehouse.query, tuple(dataset.needs), scope.since, scope.until)
    loaded = {(one.table, one.partition_key) for one in batches}
    for part in parts:
        for table, columns in dataset.needs.items():
            if part.frame.empty or (table, part.key) in loaded:
                continue
            part.frame[list(columns)] = None
            message = f"{', '.join(columns)}: {table} is not loaded of {part.key}"
            rows = len(part.frame)
            part.quality.append(
                Quality(NOT_LOADED, "soft", "table_warning", message[:500], failed_count=rows,
                        total_count=rows, sources=[table])
            )  # fmt: skip
