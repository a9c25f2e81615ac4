"""A scheduler on a clock that a test moves: the platform's own decisions (`evaluate_tick`, `Reconciler`,
`operator_notices`, the ledger), with Dagster's part in the place of the daemon (which ticks it evaluates,
also after a restart) and runs that only take time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import dagster as dg

from core.clock import ManualClock
from platform_assets.task_table import TASKS
from resources.warehouse.ledger.tasks import Task
from resources.warehouse.sql import Sql
from schedules import run_tags
from schedules.commands.operator_notices import Breakers, tell
from schedules.services import Services
from schedules.tasks.native_schedules import evaluate_tick, in_force
from schedules.tasks.reconciliation import Cursor, Reconciler, RunFate

TICK = timedelta(seconds=30)
IDLE = timedelta(minutes=4)
"""Between two looks while nothing is due or open; the sensor takes more than five minutes for an absence."""
MOST_MADE_UP = 5
"""Ticks of a schedule that Dagster evaluates after an absence, at most."""
USUAL = timedelta(minutes=2)
LASTS: Mapping[str, timedelta] = {
    "fusion_kline_sync": timedelta(minutes=4),
    "fusion_daily_sync": timedelta(minutes=4),
    "quant_calc": timedelta(minutes=12),
}


@dataclass
class Run:
    """A run of Dagster: begins half a minute after its request, ends by itself unless it is killed."""

    id: str
    task: str
    slot: str
    attempt: int
    begins: datetime
    ends: datetime
    status: str = "queued"
    reason: str | None = None


@dataclass
class Week:
    """What a test does to the platform, and what came of it."""

    services: Services
    clock: ManualClock
    breakers: dict[str, dict[str, object]] = field(default_factory=dict)
    begun: list[tuple[datetime, str]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    half_done: set[str] = field(default_factory=set)
    slow: dict[str, timedelta] = field(default_factory=dict)
    served: dict[str, Task] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    alive: bool = True
    _cursor: str | None = None
    _evaluated: dict[str, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.services.tasks.publish(TASKS)
        self.reload()
        self._evaluated = dict.fromkeys(self.served, self.clock.now())

    # -- what happens to it -----------------------------------------------------------------------

    def reload(self) -> None:
        """The code location with the times of the table, as the worker has it reloaded."""
        states = in_force(TASKS, self.services)
        self.served = {state.key: state.task for state in states if state.task.timing.timed}

    def retime(self, key: str, hm: int) -> None:
        self.services.tasks.retime(key, hm, by="admin", now=self.clock.now())
        self.reload()

    def switch(self, key: str, enabled: bool, by: str) -> None:
        self.services.tasks.mirror_enabled(key, enabled, by=by, now=self.clock.now())

    def kill_runs(self) -> None:
        """What runs below the code server ends with it."""
        for run in self.runs.values():
            if run.status == "running":
                run.status, run.reason = "failed", "the process of the run is gone"

    # -- the course of time -----------------------------------------------------------------------

    def until(self, end: datetime) -> None:
        """Let the time pass until `end`."""
        while self.clock.now() < end:
            self.clock.advance(min(self._step(), end - self.clock.now()))
            self.look()

    def _step(self) -> timedelta:
        now = self.clock.now()
        open_runs = any(run.status in {"queued", "running"} for run in self.runs.values())
        soon = any(
            task.timing.between(now - timedelta(minutes=50), now + 2 * IDLE) for task in self.served.values()
        )
        return TICK if open_runs or soon else IDLE

    def look(self) -> None:
        """What all processes do at one moment."""
        now = self.clock.now()
        if not self.alive:
            return
        self._progress(now)
        for key, tick in self._ticks(now):
            declared = next(task for task in TASKS if task.key == key)
            self._launch(evaluate_tick(self.services, declared, tick), key)
        cursor = Cursor.read(self._cursor, now)
        served = {key: task.timing.hm for key, task in self.served.items()}
        states = in_force(TASKS, self.services)
        found = Reconciler(self.services, states, self, served=served).reconcile(cursor, now)
        self._cursor = cursor.text(now)
        for request in found.requests:
            self._start(request.scheduled.task, request.scheduled.name, request.attempt)
        tell(self.services, lambda _: self._open_breakers())

    def _ticks(self, now: datetime) -> Iterator[tuple[str, datetime]]:
        """Ticks that Dagster evaluates now, in the order of their times; a clock that was set back brings
        none again."""
        due: list[tuple[datetime, str]] = []
        enabled = {state.key: state.enabled for state in self.services.tasks.all()}
        for key, task in self.served.items():
            since = self._evaluated[key]
            if now <= since:
                continue
            ticks = task.timing.between(since, now)
            self._evaluated[key] = now
            if enabled[key]:
                due += [(tick, key) for tick in ticks[-MOST_MADE_UP:]]
        yield from ((key, tick) for tick, key in sorted(due))

    def _launch(self, answer: dg.RunRequest | dg.SkipReason, key: str) -> None:
        if isinstance(answer, dg.RunRequest):
            self._start(key, answer.tags[run_tags.SLOT], 1)

    def _start(self, task: str, slot: str, attempt: int) -> None:
        begins = self.clock.now() + TICK
        lasts = self.slow.get(task, LASTS.get(task, USUAL))
        run = Run(f"{task} {slot} {attempt}", task, slot, attempt, begins, begins + lasts)
        assert run.id not in self.runs, f"asked for twice: {run.id}"
        self.runs[run.id] = run

    def _progress(self, now: datetime) -> None:
        """Runs begin and end; the first act of a run is that it takes its row."""
        for run in self.runs.values():
            if run.status == "queued" and now >= run.begins:
                self.services.scheduled_runs.begin(run.task, run.slot, run.id, now=now)
                run.status = "running"
                self.begun.append((now, run.task))
            elif run.status == "running" and now >= run.ends:
                self._end(run)

    def _end(self, run: Run) -> None:
        failed = run.task in self.failing
        run.status, run.reason = ("failed", "every source answered 403") if failed else ("success", None)
        if run.task in self.half_done:
            run.status, run.reason = "partial", "raw_x: its source answered 403"
            sql = Sql(self.services.engine)
            row = {"batch_id": run.id[:32], "run_id": run.id, "status": "failed", "table_name": "raw_x"}
            with self.services.engine.begin() as connection:
                sql.put(connection, "sys_batch", row)

    def _open_breakers(self) -> Breakers:
        return self.breakers

    # -- what the orchestrator knows --------------------------------------------------------------

    def of_scheduled_run(self, task_key: str, scheduled: str, attempt: int) -> str | None:
        run_id = f"{task_key} {scheduled} {attempt}"
        return run_id if run_id in self.runs else None

    def fate(self, run_id: str) -> RunFate | None:
        run = self.runs.get(run_id)
        if run is None:
            return None
        status = "open" if run.status in {"queued", "running"} else run.status
        return RunFate(status, run.reason)
