"""`python -m tests.benchmarks.bare_run <job> <date>`: a run of assets and checks of the same names as those
of a job, which do nothing and say nothing."""

import sys
from collections.abc import Iterator
from typing import Any

import dagster as dg

from schedules.code_location import defs


def bare(spec: dg.AssetSpec, checks: list[str], deps: list[dg.AssetKey]) -> dg.AssetsDefinition:
    @dg.asset(
        key=spec.key,
        deps=deps,
        partitions_def=spec.partitions_def,
        check_specs=[dg.AssetCheckSpec(name, asset=spec.key) for name in checks],
    )
    def nothing() -> Iterator[Any]:
        results = [dg.AssetCheckResult(check_name=name, passed=True) for name in checks]
        yield dg.MaterializeResult(check_results=results)

    return nothing


def main(job: str, day: str) -> int:
    layer = defs.resolve_job_def(job).asset_layer
    keys = set(layer.selected_asset_keys)
    made = []
    for key in sorted(keys):
        node = layer.get(key)
        checks = sorted(check.name for check in node.check_keys)
        made.append(bare(node.to_asset_spec(), checks, [one for one in node.parent_keys if one in keys]))
    done = dg.materialize(made, instance=dg.DagsterInstance.get(), partition_key=day)
    return 0 if done.success else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
