"""Names from inside Dagster (`dagster._core`) that 1.13.27 does not make public; imported here alone.

- `DefaultPartitionsSubset`, `PartitionsSubset`: the order in which a range run reports its dates.
- `SqlEventLogStorage`, `SqliteEventLogStorage` and the tables: events of one run are shortened, where the
  public API deletes all of a run, materializations among them, and the UI would call its partitions missing.
- `ExecutionPlan`, `StepDependencyConfig`, `SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION`: steps that begin
  although one before them failed, also where Dagster offers no option for it (`step_order`).
- `RetryMode`: what an executor is made with. `ExecuteStepArgs`, `unpack_value`: what a step worker gets.
- `TICKING`, `DAEMONS`: modules by name, loaded by `schedules.supervisor.simulated_time` alone, which replaces
  the time by which schedules and sensors tick.
- `WorkspaceProcessContext`, `WorkspaceFileTarget`: what `dagster_webserver` makes its app of, which gets a
  check of Host and Origin before it.
- `UnresolvedAssetJobDefinition`: the type of what `dagster.define_asset_job` returns.

A new version of Dagster is tried with the tests of tests/definitions, which hold the behaviour behind each.
"""

from dagster._core.definitions.partitions.subset import DefaultPartitionsSubset, PartitionsSubset
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.execution.plan.plan import ExecutionPlan
from dagster._core.execution.retries import RetryMode
from dagster._core.execution.step_dependency_config import StepDependencyConfig
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc.types import ExecuteStepArgs
from dagster._serdes import unpack_value

WRITTEN_FOR = "1.13.27"
"""The version of Dagster that these names were checked against."""
TICKING = (
    "dagster._scheduler.scheduler",
    "dagster._daemon.sensor",
    "dagster._core.scheduler.scheduler",
    "dagster._core.scheduler.instigation",
)
"""Modules that decide by the time whether a schedule or sensor is due."""
DAEMONS = "dagster._daemon.daemon"
"""The module of `SchedulerDaemon` and `SensorDaemon`."""

__all__ = [
    "DAEMONS",
    "SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION",
    "TICKING",
    "WRITTEN_FOR",
    "AssetCheckExecutionsTable",
    "AssetEventTagsTable",
    "DefaultPartitionsSubset",
    "ExecuteStepArgs",
    "ExecutionPlan",
    "PartitionsSubset",
    "RetryMode",
    "SqlEventLogStorage",
    "SqlEventLogStorageTable",
    "SqliteEventLogStorage",
    "StepDependencyConfig",
    "UnresolvedAssetJobDefinition",
    "WorkspaceFileTarget",
    "WorkspaceProcessContext",
    "unpack_value",
]
