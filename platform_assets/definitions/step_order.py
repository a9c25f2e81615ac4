"""The order of a run's tables: what a table reads is loaded before it, and forbids nothing when it fails.

Dagster gives up everything downstream of a failed step, unless the executor lets steps begin as soon as the
outputs before them are there (`require_upstream_step_success`). A load that failed reports such an output
without a materialization, and then fails: its step and its run are failures, its partition stays missing, and
the tables after it are loaded from what is stored. Those that have nothing to be made of fail by themselves
and say what is missing.
"""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from platform_assets.definitions.dagster_internals import (
    SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION,
    ExecutionPlan,
    StepDependencyConfig,
)

_ORDER = {"require_upstream_step_success": False}
in_process = dg.in_process_executor.configured(
    {"step_dependency_config": _ORDER}, name=str(dg.in_process_executor.name)
)
"""Dagster's executor of the same name, with the order of this module."""


def without_materialization(
    key: dg.AssetKey, checks: Sequence[dg.AssetCheckResult]
) -> dg.MaterializeResult[Any]:
    """The output of a load that failed: the steps after it may begin, no partition counts as loaded."""
    return dg.MaterializeResult(
        asset_key=key,
        metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True},
        check_results=checks,
    )


class OrderedPlan(ExecutionPlan):
    """A plan for an executor that has no such option of its own: `OrderedPlan(*plan)`."""

    def start(self, *args: Any, **how: Any) -> Any:
        how["step_dependency_config"] = StepDependencyConfig.from_config(_ORDER)
        return super().start(*args, **how)
