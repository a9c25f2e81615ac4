"""One Dagster run in this process: like any other in the UI. A process executes one run at a time; a worker
has processes for that (`run_pool`)."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import dagster as dg
from dagster import DagsterInstance, Definitions

from core.errors import ConflictError, NotFound
from platform_assets.definitions.dagster_internals import (
    ReconstructableRepository,
    RegisteredCodeLocationOrigin,
    RemoteRepositoryOrigin,
    execute_run,
)
from platform_assets.definitions.partitions import PARTITION_TAG
from platform_assets.definitions.step_order import execute_here
from resources import tracing
from resources.orchestrator import LOCATION, REPOSITORY
from schedules.runs.event_store import kept_open, open_instance
from schedules.runs.outcome import RunOptions, RunOutcome
from schedules.runs.records import DagsterRuns, is_terminated

ANSWER = "answer"
LOCATION_MODULE, LOCATION_NAME = "schedules.code_location", "defs"
"""Where step workers find the definitions."""


class DagsterRunner:
    """Jobs of `definitions` on the instance of DAGSTER_HOME, which is opened at the first use."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._lock = threading.Lock()
        self._at_work = threading.Lock()
        self._instance: DagsterInstance | None = None

    @property
    def instance(self) -> DagsterInstance:
        with self._lock:
            if self._instance is None:
                self._instance = open_instance()
            return self._instance

    def has(self, job: str) -> bool:
        return job in self.jobs()

    def jobs(self) -> list[str]:
        """Names of the jobs of the code location."""
        return [made.name for made in self._definitions.jobs or ()]

    def terminated(self, run_id: str) -> bool:
        return is_terminated(self.instance, run_id)

    def run(self, job: str, *, run_id: str, **how: Unpack[RunOptions]) -> RunOutcome:
        """Execute a job. NotFound when there is none of this name; ConflictError while this process executes
        another run; a failing run is an outcome."""
        if not self.has(job):
            raise NotFound(f"no job {job!r}")
        if not self._at_work.acquire(blocking=False):
            raise ConflictError("this process executes another run")
        try:
            return self._execute(job, run_id, {**how, "tags": dict(how.get("tags") or {})})
        finally:
            self._at_work.release()

    def _execute(self, job: str, run_id: str, how: Mapping[str, Any]) -> RunOutcome:
        instance = self.instance
        made = self._definitions.resolve_job_def(job)
        with (
            kept_open(instance, run_id),
            _with_origin(instance),
            tracing.span(
                f"run {job}",
                attributes={"ashare.run_id": run_id, "ashare.partition": how.get("partition_key")},
                parent=how["tags"].get(tracing.TAG),
            ) as step,
        ):
            if made.executor_def.name == dg.in_process_executor.name:
                result = execute_here(made, instance, run_id=run_id, **how)
            else:
                result = _by_step_workers(instance, made, run_id, how)
            if not result.success:
                step.fail("the run failed")
        if result.success:
            return RunOutcome(run_id, True, answer=_answer(result))
        fate = DagsterRuns(instance).fate(run_id)
        if fate is not None and fate.status == "canceled":
            return RunOutcome(run_id, False, canceled=True)
        if fate is None:
            return RunOutcome(run_id, False, answer=_answer(result))
        partial = fate.status == "partial"
        return RunOutcome(run_id, False, fate.reason, _answer(result), partial=partial)


def _by_step_workers(instance: Any, job: Any, run_id: str, how: Mapping[str, Any]) -> Any:
    """The run with its steps handed out: other processes make the job again from its module and its name."""
    module = ReconstructableRepository.for_module(LOCATION_MODULE, LOCATION_NAME, str(Path.cwd()))
    found = module.get_reconstructable_job(job.name)
    day = how.get("partition_key")
    run = instance.create_run_for_job(
        job,
        run_id=run_id,
        tags={**how["tags"], **({PARTITION_TAG: day} if day else {})},
        run_config=how.get("run_config") or {},
        job_code_origin=found.get_python_origin(),
    )
    return execute_run(found, run, instance)


@contextmanager
def _with_origin(instance: Any) -> Iterator[None]:
    """Runs that are created within belong to the code location, as those that the UI launches: its job pages
    and its timeline look for that."""
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), REPOSITORY)
    create = instance.create_run_for_job

    def create_with_origin(job_def: Any, **how: Any) -> Any:
        return create(job_def, **how, remote_job_origin=repository.get_job_origin(job_def.name))

    instance.create_run_for_job = create_with_origin
    try:
        yield
    finally:
        del instance.create_run_for_job


def _answer(result: Any) -> Any:
    """The output of the op `answer`; None when the job has none, or it failed."""
    done = {event.step_key for event in result.get_step_success_events()}
    return result.output_for_node(ANSWER) if ANSWER in done else None
