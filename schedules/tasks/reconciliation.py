"""Reconciliation of the ledger with what happened, as the sensor does it, without Dagster: settle what ended,
retry what failed, fire what waited or was missed, and leave a row for every scheduled run. Each
reconciliation looks at the ledger as it is, so the next one completes what a killed one left.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from core.declaration.registry import builtin_registry
from resources.warehouse.ledger.scheduled_run_reads import RETRIED, ScheduledRunRow
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.ledger.tasks import ScheduledRun, Task
from resources.warehouse.ledger.tasks_state import TaskState
from schedules.runs.outcome import RunFate
from schedules.services import Services
from schedules.tasks.readiness import Act, Done, Verdict, judge

HEAD_START = timedelta(seconds=45)
"""A scheduled run at the served time belongs to its native schedule first."""
PAUSE = timedelta(minutes=5)
"""Reconciliations further apart than this mean that the scheduler was away."""
LOOK_BACK = timedelta(days=31)
"""Runs that were due before this leave no row after a long pause."""


class Runs(Protocol):
    """The runs of the orchestrator, as far as the ledger needs them."""

    def of_scheduled_run(self, task_key: str, scheduled: str, attempt: int) -> str | None:
        """The id of the run that was made for an attempt of a scheduled run."""
        ...

    def fate(self, run_id: str) -> RunFate | None:
        """None when there is no such run."""
        ...


@dataclass(frozen=True)
class Request:
    """A scheduled run that is claimed, for which Dagster is to be asked."""

    state: TaskState
    scheduled: ScheduledRun
    trade_date: str
    trigger: str
    attempt: int
    warning: str | None = None


@dataclass(frozen=True)
class Cursor:
    """From when on scheduled runs count (the first reconciliation), when the last one was, and since when
    they follow each other without a pause (waiting for another task counts from there)."""

    since: datetime
    last: datetime
    watching: datetime

    @classmethod
    def read(cls, text: str | None, now: datetime) -> "Cursor":
        """The cursor of the last reconciliation, for one at `now`."""
        if not text:
            return cls(now, now, now)
        facts = {name: datetime.fromisoformat(value) for name, value in json.loads(text).items()}
        paused = now - facts["last"] > PAUSE
        return cls(facts["since"], facts["last"], now if paused else facts["watching"])

    def text(self, now: datetime) -> str:
        """The cursor to store after the reconciliation at `now`."""
        times = {"since": self.since, "last": now, "watching": self.watching}
        return json.dumps({name: value.isoformat() for name, value in times.items()})


@dataclass
class Reconciliation:
    """What one look at the ledger decided."""

    requests: list[Request] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        return "; ".join(self.notes) or "nothing is due"


class Reconciler:
    """Reconciles the ledger for all tasks, once. `served` = time of day (HHMM) that the native schedules run
    with."""

    def __init__(
        self,
        services: Services,
        states: Sequence[TaskState],
        runs: Runs,
        *,
        served: Mapping[str, int | None],
    ) -> None:
        self._services = services
        self._states = {state.key: state for state in states}
        self._runs = runs
        self._served = served
        self._found = Reconciliation()

    def reconcile(self, cursor: Cursor, now: datetime) -> Reconciliation:
        """Settle, retry, fire. `now`: market time."""
        start = max(cursor.since, cursor.last - self._longest_grace(), now - LOOK_BACK)
        for row in self._services.scheduled_runs.since(start).values():
            self._settle(row, now)
        rows = self._services.scheduled_runs.since(start)
        for row in rows.values():
            self._retry(row, now)
        for state in self._states.values():
            grace = timedelta(minutes=state.task.grace_minutes)
            after = max(cursor.since, cursor.last - grace, now - LOOK_BACK)
            for due in state.task.timing.between(after, now):
                scheduled = state.task.scheduled_run(due)
                self._look(state, scheduled, rows.get((scheduled.task, scheduled.name)), now, cursor.watching)
        return self._found

    def _longest_grace(self) -> timedelta:
        return timedelta(minutes=max((s.task.grace_minutes for s in self._states.values()), default=0))

    # -- what happened ----------------------------------------------------------------------------

    def _settle(self, row: ScheduledRunRow, now: datetime) -> None:
        """Bring an open row up to what became of its Dagster run."""
        if row.settled and not row.presumed:
            return
        if row.run_id is None:
            run_id = (
                None
                if row.claimed_by is None
                else self._runs.of_scheduled_run(row.task_key, row.slot, row.attempt)
            )
            if run_id is None or not self._services.scheduled_runs.adopt(row, run_id):
                return
        else:
            run_id = row.run_id
        fate = self._runs.fate(run_id)
        if fate is None:
            self._services.scheduled_runs.lose(run_id, now=now)
        elif fate.status == "success":
            lacking = self._services.scheduled_runs.batches_failed(run_id)
            self._services.scheduled_runs.finish(run_id, "partial" if lacking else "success", now=now)
        elif fate.status != "open":
            self._services.scheduled_runs.finish(run_id, fate.status, now=now, reason=fate.reason)

    def _retry(self, row: ScheduledRunRow, now: datetime) -> None:
        """Ask for the next attempt of a scheduled run that failed, as a whole or in part, when its delay is
        over."""
        state = self._states.get(row.task_key)
        if state is None or row.status not in RETRIED or row.trigger == "manual" or row.trade_date is None:
            return
        task = state.task
        ended = row.finished_at
        if ended is None or row.attempt > task.retries(began=row.started_at is not None) or not state.enabled:
            return
        if now < ended + timedelta(seconds=task.retry_delay_s):
            return
        if now > row.slot_at + timedelta(minutes=task.grace_minutes):
            return
        fate = None if row.run_id is None else self._runs.fate(row.run_id)
        if fate is not None and fate.status in ("open", "success"):
            return
        attempt = row.attempt + 1
        if self._services.scheduled_runs.retry(row, f"sensor:{attempt}"):
            scheduled = ScheduledRun(row.task_key, row.slot, row.slot_at)
            self._found.requests.append(Request(state, scheduled, row.trade_date, row.trigger, attempt))
            self._found.notes.append(f"{row.task_key}: attempt {attempt} of {row.slot}")

    # -- what is due ------------------------------------------------------------------------------

    def _look(
        self,
        state: TaskState,
        scheduled: ScheduledRun,
        row: ScheduledRunRow | None,
        now: datetime,
        watching: datetime,
    ) -> None:
        """Decide on one due scheduled run."""
        if row is not None and (row.run_id is not None or row.status not in {"queued", "skipped", "missed"}):
            return
        native = state.enabled and self._served.get(state.key) == state.task.timing.hm
        if native and row is None and now < scheduled.due + HEAD_START:
            return
        verdict = judge(
            state,
            scheduled,
            now=now,
            calendar=self._services.calendar,
            done=done_for(state.task, self._services.scheduled_runs),
            enabled=state.enabled,
            off=self._services.keeps_off(state.task),
            watching=watching,
            waited=row is not None and row.status == "queued",
        )
        self._act(state, scheduled, verdict, 1 if row is None else row.attempt)

    def _act(self, state: TaskState, scheduled: ScheduledRun, verdict: Verdict, attempt: int) -> None:
        ledger = self._services.scheduled_runs
        if verdict.act is Act.FIRE and verdict.trade_date is not None:
            claimed = ledger.claim(
                scheduled,
                f"sensor:{attempt}",
                trade_date=verdict.trade_date,
                trigger=verdict.trigger,
                reason=verdict.reason,
                attempt=attempt,
            )
            if claimed:
                request = Request(
                    state, scheduled, verdict.trade_date, verdict.trigger, attempt, warning=verdict.reason
                )
                self._found.requests.append(request)
                self._found.notes.append(f"{scheduled.task}: {verdict.trigger} of {scheduled.name}")
        elif note := leave(ledger, scheduled, verdict):
            self._found.notes.append(f"{scheduled.task}: {note}")


def done_for(task: Task, ledger: ScheduledRunLedger) -> Done:
    """Whether what a task waits for is done: a run that lacks some of its tables is, unless the task is made
    from one of them."""
    return partial(ledger.done, needed=builtin_registry().reads_of_task(task.key))


def leave(ledger: ScheduledRunLedger, scheduled: ScheduledRun, verdict: Verdict) -> str:
    """Record in the ledger why a run does not start (now), and say it; empty where that is known already."""
    reason = verdict.reason or ""
    if verdict.act is Act.WAIT:
        ledger.wait(scheduled, reason, trade_date=verdict.trade_date)
        return reason
    status = "missed" if verdict.act is Act.MISS else "skipped"
    recorded = ledger.set_aside(scheduled, status, reason, trade_date=verdict.trade_date)
    return f"{scheduled.name} {status}, {reason}" if recorded else ""
