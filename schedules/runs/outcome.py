"""How a Dagster run ended, and who executes one. Without Dagster, so that the worker stays small."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, Unpack

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended; `error` says what failed. `partial`: no success, but some of its tables were loaded.
    `answer` is what its op `answer` gave back, for the jobs that have one and came that far. `canceled`: it
    stopped at a safe point, because it was asked to."""

    run_id: str
    success: bool
    error: str | None = None
    answer: Any = None
    canceled: bool = False
    partial: bool = False


class RunOptions(TypedDict, total=False):
    """What a run may be given beside its id: the one partition that it is for, tags, configuration."""

    partition_key: str | None
    tags: Mapping[str, str] | None
    run_config: Mapping[str, Any] | None


class JobRunner(Protocol):
    """Executes a job to its end."""

    def has(self, job: str) -> bool: ...

    def terminated(self, run_id: str) -> bool:
        """Whether somebody asked the orchestrator to end this run."""
        ...

    def run(self, job: str, *, run_id: str, **how: Unpack[RunOptions]) -> RunOutcome: ...
