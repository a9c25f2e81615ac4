"""Which codes the loads of a scope wrote: a staged dataset by code goes on with those."""

from collections.abc import Sequence
from dataclasses import replace

from core.declaration.dataset import Dataset
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.pipeline.run import PipelineRun


def written_codes(run: PipelineRun, dataset: Dataset, scope: Scope, tables: Sequence[str]) -> Scope:
    """A staged dataset by code goes on with the codes that the loads of the scope's dates wrote in `tables`:
    the scope, limited to those. A scope of codes, or of another dataset, stays as it is."""
    if dataset.partition is not Partition.CODE or dataset.dimension or scope.codes is not None:
        return scope
    found: set[str] = set()
    for table in tables:
        rows = run.warehouse.query(
            f"SELECT DISTINCT code FROM {run.warehouse.sql.name(table)} WHERE batch_id IN (SELECT batch_id "
            "FROM sys_batch WHERE table_name=? AND partition_key>=? AND partition_key<=?)",
            (table, scope.since, scope.until),
        )
        found |= {str(code) for (code,) in rows}
    return replace(scope, codes=tuple(sorted(found)))
