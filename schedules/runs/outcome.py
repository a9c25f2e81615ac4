"""How a Dagster run ended, and who launches one. Without Dagster, so that tests need none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict, Unpack

ANSWER = "answer"
"""Name in its job of the op that gives an answer back, and of the answer in the metadata of its output."""


@dataclass(frozen=True)
class RunFate:
    """What became of a run. `status`: open, success, partial (some of its tables could not be loaded), failed
    or canceled. `lacks_parts`: partial, and no table failed but for parts that nobody brought."""

    status: str
    reason: str | None = None
    lacks_parts: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """How a run of a command ended; `error` says what failed. `partial`: no success, but some of its tables
    were loaded; `lacks_parts`: see `RunFate`. `answer` is what its op `answer` gave back, for the jobs that
    have one and came that far."""

    run_id: str
    success: bool
    error: str | None = None
    answer: Any = None
    partial: bool = False
    lacks_parts: bool = False


@dataclass(frozen=True)
class BackfillFate:
    """What became of a backfill so far: its runs, oldest first, and trade date -> why a run of it failed.
    `status`: open, canceling, ended or canceled."""

    status: str
    run_ids: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)


class RunOptions(TypedDict, total=False):
    """What a run may be given: the one partition that it is for, tags, configuration."""

    partition_key: str | None
    tags: Mapping[str, str] | None
    run_config: Mapping[str, Any] | None


class JobRunner(Protocol):
    """Launches jobs in the orchestrator and looks after their runs."""

    def launch(self, job: str, **how: Unpack[RunOptions]) -> str:
        """The id of a new run of a job, or of the dated assets of a dataset. NotFound for an unknown name;
        Unavailable while the orchestrator is away."""
        ...

    def launch_backfill(self, dataset: str, days: Sequence[str], title: str, tags: Mapping[str, str]) -> str:
        """The id of a new backfill, or of the one that has this title. Raises as `launch`."""
        ...

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        """What became of a backfill of `days`."""
        ...

    def cancel_backfill(self, backfill_id: str) -> None:
        """Ask for the end of a backfill and its runs. Raises as `terminate`."""
        ...

    def fate(self, run_id: str) -> RunFate | None:
        """None when there is no such run; `open` also while nobody can tell."""
        ...

    def answer(self, run_id: str) -> Any:
        """What the op `answer` of a run gave back; None without one."""
        ...

    def terminate(self, run_id: str) -> None:
        """Ask for its end. Raises PlatformError when that could not be asked for."""
        ...

    def open_runs(self, command_id: int) -> list[str]:
        """Ids of the runs of a command that have not ended."""
        ...
