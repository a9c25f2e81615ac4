"""Runs of commands inside the test's process: what Dagster's launcher does, without a process a run."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import dagster as dg
from dagster import DagsterExecutionInterruptedError
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.execute_in_process import core_execute_in_process, merge_run_tags
from dagster._utils.interrupts import capture_interrupts

from core.errors import NotFound
from platform_assets.definitions.step_order import in_process
from schedules.runs.assets import dated_assets
from schedules.runs.outcome import BackfillFate, RunFate, RunOptions, RunOutcome
from schedules.runs.records import DagsterRuns


class InProcessRuns:
    """A JobRunner whose runs have ended when they are launched. An interruption during one (`interrupt`)
    is what Dagster's *Terminate* sends to the process of a run."""

    def __init__(self, definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
        self.definitions, self.instance = definitions, instance
        self._records = DagsterRuns(instance)

    def launch(self, job: str, *, run_id: str | None = None, **how: Unpack[RunOptions]) -> str:
        run_id = run_id or str(uuid.uuid4())
        execute_here(self._job(job), self.instance, run_id, **how)
        return run_id

    def _job(self, name: str) -> dg.JobDefinition:
        assets = dated_assets(name)
        if assets:
            whole = self.definitions.resolve_implicit_global_asset_job_def()
            return whole.get_subset(asset_selection={dg.AssetKey(path) for path in assets})
        if name not in {declared.name for declared in self.definitions.jobs or ()}:
            raise NotFound(f"no job {name!r}")
        return self.definitions.resolve_job_def(name)

    def launch_backfill(self, dataset: str, days: Sequence[str], title: str, tags: Mapping[str, str]) -> str:
        raise NotImplementedError

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        raise NotImplementedError

    def cancel_backfill(self, backfill_id: str) -> None:
        raise NotImplementedError

    def run(self, job: str, *, run_id: str | None = None, **how: Unpack[RunOptions]) -> RunOutcome:
        """A run without a command."""
        run_id = self.launch(job, run_id=run_id, **how)
        fate = self._records.fate(run_id)
        assert fate is not None
        return RunOutcome(
            run_id,
            fate.status == "success",
            fate.reason,
            self.answer(run_id),
            partial=fate.status == "partial",
            lacks_parts=fate.lacks_parts,
        )

    def fate(self, run_id: str) -> RunFate | None:
        return self._records.fate(run_id)

    def answer(self, run_id: str) -> Any:
        return self._records.answer(run_id)

    def terminate(self, run_id: str) -> None:
        raise AssertionError(f"run {run_id} has ended")

    def open_runs(self, command_id: int) -> list[str]:
        return []


def execute_here(
    job: dg.JobDefinition, instance: dg.DagsterInstance, run_id: str, **how: Unpack[RunOptions]
) -> None:
    """`job.execute_in_process`, which would set the executor of the job aside."""
    here = job.as_ephemeral_job(resource_defs={}, input_values={}).with_executor_def(in_process)
    config = how.get("run_config") or {}
    try:
        with capture_interrupts():
            core_execute_in_process(
                job=InMemoryJob(here),
                run_config=config,
                instance=instance,
                output_capturing_enabled=False,
                raise_on_error=False,
                run_tags=merge_run_tags(
                    job, how.get("partition_key"), how.get("tags"), None, instance, config
                ),
                run_id=run_id,
            )
    except (DagsterExecutionInterruptedError, KeyboardInterrupt):
        return  # as in the process of a run: the event log has it
