"""Dagster's runs as the ledger sees them."""

import sqlalchemy as sa
from dagster import DagsterEventType, DagsterInstance, DagsterRunStatus, RunsFilter

from schedules import run_tags
from schedules.tasks.reconciliation import RunFate

_ENDED = {
    DagsterRunStatus.SUCCESS: "success",
    DagsterRunStatus.FAILURE: "failed",
    DagsterRunStatus.CANCELED: "canceled",
}


def is_terminated(instance: DagsterInstance, run_id: str) -> bool:
    """*Terminate* in the Dagster UI: Dagster has no process of its own to signal, it leaves a mark."""
    try:
        run = instance.get_run_by_id(run_id)
    except sa.exc.DBAPIError:
        return False  # busy or away: asked again at the next look
    return run is not None and run.status in {DagsterRunStatus.CANCELING, DagsterRunStatus.CANCELED}


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
        retry = run_tags.NO_RETRY not in run.tags
        return RunFate(status, self._failure(run_id) if status == "failed" else None, retry)

    def _failure(self, run_id: str) -> str | None:
        """The message of the run's first failed step, or of the run itself."""
        kinds = {DagsterEventType.STEP_FAILURE, DagsterEventType.RUN_FAILURE}
        records = self._instance.get_records_for_run(run_id, of_type=kinds).records
        for record in records:
            event = record.event_log_entry.dagster_event
            if event is None:
                continue
            if event.is_step_failure:
                error = event.step_failure_data.error
                cause = error.cause if error is not None and error.cause is not None else error
                if cause is not None:
                    return f"{event.step_key}: {cause.message.strip()}"
            elif event.message:
                return event.message
        return None
