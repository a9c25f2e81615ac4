"""A week of a whole platform with real processes: its market clock is driven from one due time to the next,
and what happens to the platform happens from outside."""

import contextlib
import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.errors import PlatformError
from platform_assets.task_table import BY_KEY, TASKS
from resources.warehouse.ledger.scheduled_run_reads import ScheduledRunRow
from schedules import run_tags
from schedules.commands.worker import REAP_S
from schedules.tasks.native_schedules import in_force
from schedules.tasks.readiness import trade_date_of
from tests.soak.installation import Installation
from tests.soak.simulated import SimulatedPlatform

FAST, BUSY, DUE = 20.0, 5.0, 3.0
"""Market seconds a second: while nothing is to do, while a run is open, while one is due and not yet asked
for."""
BEFORE = timedelta(seconds=45)
"""So long before a due time the clock stops jumping."""
WORTH_A_JUMP = timedelta(minutes=2)
LOOK_BACK = timedelta(hours=10)
LOOK_S = 0.25
PATIENCE_S = 900.0
"""Without any progress of the market clock that is worth a name."""
BACK_S = 240.0
NOTICED_S = 5.0


@dataclass
class RealWeek:
    """What a test does to the platform. `since`: the first due time that counts."""

    platform: SimulatedPlatform
    place: Installation
    since: datetime

    # -- the course of time -----------------------------------------------------------------------

    def until(self, end: datetime) -> None:
        """Let the time pass until `end`: over what is quiet by jumps, else slowly enough for real runs."""
        clock = self.platform.clock
        while (now := clock.now()) < end:
            if not self.open_at(now):
                coming = min(self.coming(now, end), end)
                if coming - now > WORTH_A_JUMP:
                    clock.change(at=coming - BEFORE, rate=FAST)
                else:
                    self._at(FAST)
            else:
                self._at(DUE if self.asked_for_soon(now) else BUSY)
            time.sleep(LOOK_S)
        self._at(1.0)

    def until_midnight(self, day: datetime) -> None:
        """Let a day end; what operators should hear of it is looked for before."""
        self.until(day.replace(hour=23, minute=50))
        self.settle()
        time.sleep(REAP_S + NOTICED_S)
        self.until(day + timedelta(days=1))

    def settle(self) -> None:
        """Returns when nothing that was due is open."""
        end = time.monotonic() + PATIENCE_S
        self._at(DUE)
        while self.open_at(self.platform.clock.now()):
            assert time.monotonic() < end, self.open_at(self.platform.clock.now())
            time.sleep(LOOK_S)
        self._at(1.0)

    def _at(self, rate: float) -> None:
        if self.platform.clock.pace.rate != rate:
            self.platform.clock.change(rate=rate)

    def rows(self, since: datetime) -> dict[tuple[str, datetime], ScheduledRunRow]:
        found = self.place.services.scheduled_runs.since(since).values()
        return {(row.task_key, row.slot_at): row for row in found if row.trigger != "manual"}

    def open_at(self, now: datetime) -> list[str]:
        """What was due until `now` and has not come to its end."""
        since = max(self.since, now - LOOK_BACK)
        rows = self.rows(since - timedelta(minutes=1))
        found = []
        for state in in_force(TASKS, self.place.services):
            for due in state.task.timing.between(since, now):
                row = rows.get((state.key, due))
                if row is None or not row.settled or self._again(row, now):
                    found.append(f"{state.key} {due:%d %H:%M} {row.status if row else 'no row'}")
        return found

    def _again(self, row: ScheduledRunRow, now: datetime) -> bool:
        """Whether another attempt follows soon."""
        task = BY_KEY[row.task_key]
        retries = task.retries(began=row.started_at is not None)
        if row.status != "failed" or row.attempt > retries or row.finished_at is None:
            return False
        return now < row.finished_at + timedelta(seconds=task.retry_delay_s) + timedelta(minutes=2)

    def asked_for_soon(self, now: datetime) -> bool:
        """Whether something has just become due and has no run yet."""
        rows = self.rows(now - timedelta(minutes=6))
        return any(
            (state.key, due) not in rows
            for state in in_force(TASKS, self.place.services)
            for due in state.task.timing.between(max(self.since, now - timedelta(minutes=5)), now)
        )

    def coming(self, now: datetime, end: datetime) -> datetime:
        """The next due time of a task that works on its day; `end` without one."""
        calendar = self.place.services.calendar
        found = [
            due
            for state in in_force(TASKS, self.place.services)
            for due in state.task.timing.between(now, end)
            if trade_date_of(state.task, due.date().isoformat(), calendar) is not None
        ]
        return min(found, default=end)

    # -- what happens to it -----------------------------------------------------------------------

    def kill(self, name: str) -> None:
        """Kill a process as the operating system does; returns when its successor runs."""
        before = self.platform.kill(name)
        self._until(lambda: self.platform.pids().get(name) not in {None, before}, name)

    def ready(self) -> None:
        """Returns when the orchestrator answers and serves the times of the task table."""

        def served() -> bool:
            try:
                found = self.platform.orchestrator.schedules()
            except PlatformError:  # it starts, or loads its definitions
                return False
            states = in_force(TASKS, self.place.services)
            return all(
                found[state.key].cron == state.task.timing.cron for state in states if state.key in found
            )

        self._until(served, "the code location")

    def switch_off(self) -> None:
        """The machine goes: every process at once."""
        process = self.platform.process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        for pid in self.place.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        self.platform.process = None

    def running(self, task: str) -> None:
        """Returns when the newest run of a task is at work."""
        self._at(DUE)
        self._until(lambda: self._newest(task) == "running", task)
        self._at(1.0)

    def ended(self, task: str) -> None:
        """Returns when somebody has said that the newest run of a task is over."""
        self._until(lambda: self._newest(task) != "running", task)

    def _newest(self, task: str) -> str | None:
        rows = [
            row for (key, _), row in self.rows(self.platform.clock.now() - LOOK_BACK).items() if key == task
        ]
        return max(rows, key=lambda row: row.slot_at).status if rows else None

    def change(self, key: str, **what: Any) -> None:
        """PUT /datamgr/schedule/{key}, as an administrator."""
        base = f"http://127.0.0.1:{self.platform.ports()['api']}/api/v1"
        password = (self.platform.folder / "secrets" / "admin_password").read_text(encoding="utf-8").strip()
        token = asked(f"{base}/auth/login", {"username": "admin", "password": password})["access_token"]
        asked(f"{base}/datamgr/schedule/{key}", what, method="PUT", token=token)

    def ban(self, upstream: str) -> None:
        """From now on every call of an upstream is answered by 403."""
        rule = {"upstream": upstream, "call": "*", "kind": "status", "args": {"code": 403}}
        asked(self._faults(), [rule])

    def lift_bans(self) -> None:
        asked(self._faults(), None, method="DELETE")

    def _faults(self) -> str:
        return f"http://127.0.0.1:{self.platform.ports()['simulator_http']}/_control/faults"

    def _until(self, true: Callable[[], bool], what: str, limit_s: float = BACK_S) -> None:
        end = time.monotonic() + limit_s
        while not true():
            assert time.monotonic() < end, f"{what}: not within {limit_s:.0f} s"
            time.sleep(LOOK_S)

    # -- what came of it --------------------------------------------------------------------------

    def asked_for(self) -> list[tuple[datetime, str]]:
        """(due time, task) of every run of the table in the order in which Dagster was asked for it."""
        found = []
        for record in self.place.instance.get_run_records(ascending=True):
            tags: Mapping[str, str] = record.dagster_run.tags
            if run_tags.SLOT not in tags or tags.get(run_tags.TRIGGER) == "manual":
                continue
            task, slot = tags[run_tags.TASK], tags[run_tags.SLOT]
            due = self._due.get((task, slot))
            if due is not None:
                found.append((due, task))
        return found

    @property
    def _due(self) -> dict[tuple[str, str], datetime]:
        rows = self.place.services.scheduled_runs.since(self.since - timedelta(minutes=1)).values()
        return {(row.task_key, row.slot): row.slot_at for row in rows if row.trigger != "manual"}


def asked(url: str, body: Any, *, method: str | None = None, token: str = "") -> Any:
    """The answer of a request with a JSON body."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")
