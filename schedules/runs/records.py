"""Dagster's runs as the ledger sees them."""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from platform_assets.definitions.run_context import LACKS_PARTS
from resources.orchestrator import PARTITION, RANGE_END, RANGE_START
from resources.warehouse.ledger.scheduled_run_reads import PROCESS_DIED
from schedules import run_tags
from schedules.runs.outcome import ANSWER, BackfillFate, RunFate

OUTSIDE = "from outside the execution context"
"""What the code server leaves of a run whose process died under it."""
_ENDED = {
    DagsterRunStatus.SUCCESS: "success",
    DagsterRunStatus.FAILURE: "failed",
    DagsterRunStatus.CANCELED: "canceled",
}

_OF_BACKFILL = {
    **dict.fromkeys(("COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED"), "ended"),
    "CANCELING": "canceling",
    "CANCELED": "canceled",
}
UNFINISHED = frozenset(set(DagsterRunStatus) - set(_ENDED))


class DagsterRuns:
    """Looks runs up in one instance."""

    def __init__(self, instance: DagsterInstance) -> None:
        self._instance = instance

    def of_scheduled_run(self, task_key: str, scheduled: str, attempt: int) -> str | None:
        records = self._instance.get_run_records(
            RunsFilter(tags=dict(run_tags.same_scheduled_run(task_key, scheduled, attempt))), limit=1
        )
        return records[0].dagster_run.run_id if records else None

    def fate(self, run_id: str) -> RunFate | None:
        run = self._instance.get_run_by_id(run_id)
        if run is None:
            return None
        status = _ENDED.get(run.status, "open")
        if status != "failed":
            return RunFate(status)
        succeeded, failures, lacking, run_failure = self._steps(run_id)
        if succeeded and failures and self._all_ended(run, {*succeeded, *failures}):
            status = "partial"
        lacks_parts = status == "partial" and lacking == failures.keys()
        return RunFate(status, "; ".join(_reasons(failures)) or run_failure, lacks_parts)

    def backfill_fate(self, backfill_id: str, days: Sequence[str]) -> BackfillFate:
        """What became of a backfill of `days`; one that is not there has ended."""
        found = self._instance.get_backfill(backfill_id)
        runs = self._instance.get_runs(RunsFilter.for_backfill(backfill_id), ascending=True)
        failures: dict[str, str] = {}
        for run in runs:
            if run.status is DagsterRunStatus.FAILURE:
                day = run.tags.get(PARTITION, "")
                first, last = run.tags.get(RANGE_START, day), run.tags.get(RANGE_END, day)
                fate = self.fate(run.run_id)
                why = (fate and fate.reason) or f"see the run {run.run_id}"
                failures |= {day: why for day in days if first <= day <= last}
        status = "ended" if found is None else _OF_BACKFILL.get(found.status.value, "open")
        return BackfillFate(status, tuple(run.run_id for run in runs), failures)

    def answer(self, run_id: str) -> Any:
        """What the op `answer` of a run gave back, as it left it in the metadata of its output."""
        of_outputs = {DagsterEventType.STEP_OUTPUT}
        for record in self._instance.get_records_for_run(run_id, of_type=of_outputs).records:
            event = record.event_log_entry.dagster_event
            if event is not None and event.step_key == ANSWER:
                return event.step_output_data.metadata[ANSWER].value
        return None

    def _steps(self, run_id: str) -> tuple[list[str], dict[str, str], set[str], str | None]:
        """(steps that succeeded, failed step -> why, those that lack parts alone, why the run failed)."""
        kinds = {DagsterEventType.STEP_SUCCESS, DagsterEventType.STEP_FAILURE, DagsterEventType.RUN_FAILURE}
        succeeded: list[str] = []
        failures: dict[str, str] = {}
        lacking: set[str] = set()
        run_failure = None
        for record in self._instance.get_records_for_run(run_id, of_type=kinds).records:
            event = record.event_log_entry.dagster_event
            if event is None:
                continue
            if event.is_step_success:
                succeeded.append(str(event.step_key))
            elif event.is_step_failure:
                said = event.step_failure_data.user_failure_data
                if said is not None and LACKS_PARTS in said.metadata:
                    lacking.add(str(event.step_key))
                error = event.step_failure_data.error
                cause = error.cause if error is not None and error.cause is not None else error
                failures[str(event.step_key)] = cause.message.strip() if cause is not None else ""
            else:
                run_failure = run_failure or (
                    PROCESS_DIED if OUTSIDE in str(event.message) else event.message
                )
        return succeeded, failures, lacking, run_failure

    def _all_ended(self, run: DagsterRun, ended: set[str]) -> bool:
        """Whether every step had its turn: else the run broke off, and what it left out is not known."""
        if run.execution_plan_snapshot_id is None:
            return False
        plan = self._instance.get_execution_plan_snapshot(run.execution_plan_snapshot_id)
        return ended.issuperset(plan.step_keys_to_execute)


def _reasons(failures: dict[str, str]) -> Iterator[str]:
    """Why each step failed, as long as the reason is another one than those before: where a source is away,
    many say the same."""
    by_reason: dict[str, list[str]] = {}
    for step, why in failures.items():
        by_reason.setdefault(why, []).append(step)
    for why, steps in by_reason.items():
        more = f" and {len(steps) - 1} more" if len(steps) > 1 else ""
        yield f"{steps[0]}{more}: {why}" if why else f"{steps[0]}{more}"
