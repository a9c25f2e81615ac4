"""Tables that a load is made of and that could not be loaded: it would write their old rows as if they were
new ones."""

from collections.abc import Collection

from core.declaration.dataset import Dataset
from core.declaration.scope import Scope
from core.errors import QualityError
from platform_assets.pipeline.run import PipelineRun
from resources.warehouse.sql import marks


def must_have_loaded_one(
    run: PipelineRun, table: str, dataset: Dataset, inputs: Collection[str], scope: Scope
) -> None:
    """QualityError with their reasons when all attempts to load the inputs failed: those of the newest trade
    date, or of today where rows have no trade date or are the past of some codes. Without an attempt the
    stored rows decide."""
    of: tuple[str, ...]
    of_codes = scope.codes is not None and scope.is_range  # written by years
    if dataset.partition.by_date and not dataset.dimension and not of_codes:
        which, of = "partition_key IN (?, ?)", (scope.until, _newest_out(run, dataset, scope))
    else:
        which, of = "started_at>=?", (run.clock.now().date().isoformat(),)
    rows = run.warehouse.query(
        f"SELECT table_name, status, error FROM sys_batch WHERE table_name IN ({marks(inputs)}) AND {which} "
        "AND status IN ('success', 'partial', 'failed') ORDER BY started_at",
        (*inputs, *of),
    )
    if not rows or any(status != "failed" for _, status, _ in rows):
        return
    reasons = {str(name): str(error) for name, _, error in rows}
    said = "; ".join(why if why.startswith(name) else f"{name}: {why}" for name, why in reasons.items())
    raise QualityError(f"{table}: {said}", dataset=dataset.name)


def _newest_out(run: PipelineRun, dataset: Dataset, scope: Scope) -> str:
    """The newest date of the scope whose figures are published: a later one has no successful load yet."""
    declared, now = run.registry.trade_days[dataset.table_name], run.clock.now()
    published = [day for day in scope.dates if declared.not_out(day, now, run.calendar) is None]
    return published[-1] if published else scope.until
