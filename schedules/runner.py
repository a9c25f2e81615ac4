"""Dagster runs in this process: a run like any other in the UI, without the start of a process."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from resources.errors import NotFound

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
ANSWER = "answer"


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended; `error` is its first failure. `answer` is what its op `answer` gave back, for the
    jobs that have one and came that far."""

    run_id: str
    success: bool
    error: str | None = None
    answer: Any = None


class JobRunner(Protocol):
    """Executes a job to its end."""

    def has(self, job: str) -> bool: ...

    def run(
        self,
        job: str,
        *,
        run_id: str,
        partition_key: str | None = None,
        tags: Mapping[str, str] | None = None,
        run_config: Mapping[str, Any] | None = None,
    ) -> RunOutcome: ...


class DagsterRunner:
    """Jobs of the code location on the instance of DAGSTER_HOME; both are opened at the first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: tuple[Any, Any] | None = None

    @property
    def instance(self) -> Any:
        return self._open()[1]

    def _open(self) -> tuple[Any, Any]:
        with self._lock:
            if self._opened is None:
                from dagster import DagsterInstance

                from platform_assets.definitions import defs

                self._opened = (defs, DagsterInstance.get())
            return self._opened

    def has(self, job: str) -> bool:
        defs, _ = self._open()
        return job in {made.name for made in defs.jobs or ()}

    def run(
        self,
        job: str,
        *,
        run_id: str,
        partition_key: str | None = None,
        tags: Mapping[str, str] | None = None,
        run_config: Mapping[str, Any] | None = None,
    ) -> RunOutcome:
        """Execute a job. NotFound when there is none of this name; a failing run is an outcome."""
        from schedules.runs import DagsterRuns

        defs, instance = self._open()
        if not self.has(job):
            raise NotFound(f"no job {job!r}")
        result = defs.resolve_job_def(job).execute_in_process(
            instance=instance,
            run_id=run_id,
            partition_key=partition_key,
            tags=dict(tags or {}),
            run_config=run_config,
            raise_on_error=False,
        )
        error = None
        if not result.success:
            fate = DagsterRuns(instance).fate(run_id)
            error = None if fate is None else fate.reason
        return RunOutcome(run_id, bool(result.success), error, _answer(result))


def _answer(result: Any) -> Any:
    """The output of the op `answer`; None when the job has none, or it failed."""
    done = {event.step_key for event in result.get_step_success_events()}
    return result.output_for_node(ANSWER) if ANSWER in done else None
