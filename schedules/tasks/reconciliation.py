"""The sensor's work, without Dagster: settle what ended, retry what failed, fire what waited or was
missed, and leave a row for every slot. Level, not edge: each sweep looks at the ledger as it is, so a
sweep that died is made good by the next one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from resources.warehouse.ledger.scheduled_run_reads import LOST, SlotRow
from resources.warehouse.ledger.tasks import Slot
from resources.warehouse.ledger.tasks_state import TaskState
from schedules.services import Services
from schedules.tasks.readiness import Act, Verdict, judge

HEAD_START = timedelta(seconds=45)
"""A slot at the served time belongs to its native schedule first."""
PAUSE = timedelta(minutes=5)
"""Sweeps further apart than this mean that the scheduler was away."""
LOOK_BACK = timedelta(days=31)
"""Slots before this leave no row after a long pause."""


@dataclass(frozen=True)
class RunFate:
    """What became of a run. `status`: open, success, failed or canceled."""

    status: str
    reason: str | None = None
    retry: bool = True


class Runs(Protocol):
    """The runs of the orchestrator, as far as the ledger needs them."""

    def of_slot(self, task_key: str, slot: str, attempt: int) -> str | None:
        """The id of the run that was made for an attempt of a slot."""
        ...

    def fate(self, run_id: str) -> RunFate | None:
        """None when there is no such run."""
        ...


@dataclass(frozen=True)
class Request:
    """A run to ask for; its slot is claimed."""

    state: TaskState
    slot: Slot
    trade_date: str
    trigger: str
    attempt: int
    warning: str | None = None


@dataclass(frozen=True)
class Cursor:
    """From when on slots count (the first sweep ever), when the last sweep looked, and since when sweeps
    follow each other without a pause (waiting for another task counts from there)."""

    since: datetime
    last: datetime
    watching: datetime

    @classmethod
    def read(cls, text: str | None, now: datetime) -> "Cursor":
        """The cursor of the last sweep, for a sweep at `now`."""
        if not text:
            return cls(now, now, now)
        facts = {name: datetime.fromisoformat(value) for name, value in json.loads(text).items()}
        paused = now - facts["last"] > PAUSE
        return cls(facts["since"], facts["last"], now if paused else facts["watching"])

    def text(self, now: datetime) -> str:
        """The cursor to store after the sweep at `now`."""
        times = {"since": self.since, "last": now, "watching": self.watching}
        return json.dumps({name: value.isoformat() for name, value in times.items()})


@dataclass
class Sweep:
    """What one look at the ledger decided."""

    requests: list[Request] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        return "; ".join(self.notes) or "nothing is due"


class Sweeper:
    """One sweep over all tasks. `served` = time of day (HHMM) that the native schedules run with."""

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
        self._found = Sweep()

    def sweep(self, cursor: Cursor, now: datetime) -> Sweep:
        """Settle, retry, fire. `now` is the market time of this sweep."""
        start = max(cursor.since, cursor.last - self._longest_grace(), now - LOOK_BACK)
        for row in self._services.slots.since(start).values():
            self._settle(row, now)
        rows = self._services.slots.since(start)
        for row in rows.values():
            self._retry(row, now)
        for state in self._states.values():
            grace = timedelta(minutes=state.task.grace_minutes)
            after = max(cursor.since, cursor.last - grace, now - LOOK_BACK)
            for due in state.task.timing.between(after, now):
                slot = state.task.slot(due)
                self._look(state, slot, rows.get((slot.task, slot.name)), now, cursor.watching)
        return self._found

    def _longest_grace(self) -> timedelta:
        return timedelta(minutes=max((s.task.grace_minutes for s in self._states.values()), default=0))

    # -- what happened ----------------------------------------------------------------------------

    def _settle(self, row: SlotRow, now: datetime) -> None:
        """Bring the row of an open slot up to what became of its run."""
        if row.settled and not row.presumed:
            return
        if row.run_id is None:
            run_id = (
                None if row.claimed_by is None else self._runs.of_slot(row.task_key, row.slot, row.attempt)
            )
            if run_id is None or not self._services.slots.adopt(row, run_id):
                return
        else:
            run_id = row.run_id
        fate = self._runs.fate(run_id)
        if row.presumed and row.reason != LOST and fate is not None and fate.status == "failed":
            return  # the orchestrator heard it from the same reaper
        if fate is None:
            self._services.slots.lose(run_id, now=now)
        elif fate.status == "success":
            partial = self._services.slots.batches_failed(run_id)
            self._services.slots.finish(run_id, "partial" if partial else "success", now=now)
        elif fate.status != "open":
            self._services.slots.finish(run_id, fate.status, now=now, reason=fate.reason)

    def _retry(self, row: SlotRow, now: datetime) -> None:
        """Ask for the next attempt of a failed slot when its delay is over."""
        state = self._states.get(row.task_key)
        if state is None or row.status != "failed" or row.trigger == "manual" or row.trade_date is None:
            return
        task = state.task
        ended = row.finished_at
        if ended is None or row.attempt > task.max_retries or not state.enabled:
            return
        if now < ended + timedelta(seconds=task.retry_delay_s):
            return
        if now > row.slot_at + timedelta(minutes=task.grace_minutes):
            return
        fate = None if row.run_id is None else self._runs.fate(row.run_id)
        if fate is not None and (fate.status == "open" or not fate.retry):
            return
        attempt = row.attempt + 1
        if self._services.slots.retry(row, f"sensor:{attempt}"):
            slot = Slot(row.task_key, row.slot, row.slot_at)
            self._found.requests.append(Request(state, slot, row.trade_date, row.trigger, attempt))
            self._found.notes.append(f"{row.task_key}: attempt {attempt} of {row.slot}")

    # -- what is due ------------------------------------------------------------------------------

    def _look(
        self, state: TaskState, slot: Slot, row: SlotRow | None, now: datetime, watching: datetime
    ) -> None:
        """Decide on one due slot."""
        if row is not None and (row.run_id is not None or row.status not in {"queued", "skipped", "missed"}):
            return
        native = state.enabled and self._served.get(state.key) == state.task.timing.hm
        if native and row is None and now < slot.due + HEAD_START:
            return
        verdict = judge(
            state,
            slot,
            now=now,
            calendar=self._services.calendar,
            done=self._services.slots.done,
            enabled=state.enabled,
            off=self._services.settings.keeps_off(state.key),
            watching=watching,
            waited=row is not None and row.status == "queued",
        )
        self._act(state, slot, verdict, 1 if row is None else row.attempt)

    def _act(self, state: TaskState, slot: Slot, verdict: Verdict, attempt: int) -> None:
        slots, reason = self._services.slots, verdict.reason or ""
        if verdict.act is Act.WAIT:
            slots.wait(slot, reason, trade_date=verdict.trade_date)
            self._found.notes.append(f"{slot.task}: {reason}")
        elif verdict.act is Act.FIRE and verdict.trade_date is not None:
            claimed = slots.claim(
                slot,
                f"sensor:{attempt}",
                trade_date=verdict.trade_date,
                trigger=verdict.trigger,
                reason=verdict.reason,
                attempt=attempt,
            )
            if claimed:
                request = Request(
                    state, slot, verdict.trade_date, verdict.trigger, attempt, warning=verdict.reason
                )
                self._found.requests.append(request)
                self._found.notes.append(f"{slot.task}: {verdict.trigger} of {slot.name}")
        else:
            status = "missed" if verdict.act is Act.MISS else "skipped"
            if slots.set_aside(slot, status, reason, trade_date=verdict.trade_date):
                self._found.notes.append(f"{slot.task}: {slot.name} {status}, {reason}")
