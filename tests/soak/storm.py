"""A storm over a running platform: commands of every kind on both lanes from several threads, gap repairs,
tasks that come due, cancels, and kills of the worker and of runs; then a comparison of all its records."""

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.clock import SystemClock
from core.declaration.registry import builtin_registry
from core.errors import ConflictError, PlatformError
from resources.warehouse.engine import reading
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import DIED_AT_WORK, OPEN, Command
from resources.warehouse.ledger.missing_partitions import table_of
from schedules.tasks.missing_dates_sensor import GapKeeper
from tests.soak.installation import Installation

THREADS = 6
MOST_OPEN = 30
"""Commands that wait at a time; more than this, and who asks waits as well."""
HANG_S = 300.0
"""So long without any command coming to its end, while some are open, is a hang."""
DATASETS = ("margin", "block_trade", "dragon_tiger", "index_daily", "fund_flow")
MARKET = ("exchange_block_trade", "exchange_margin", "dragon_tiger", "no_such_download")
MOVED = ("news_sync", "freshness_snapshot", "limitup_reason_sync")
"""Tasks that are moved to the next minute, again and again, so that they come due in the storm."""
KINDS = {
    "download": 30, "cleanup": 10, "backfill": 14, "download_market": 12, "run_job": 14, "wrong": 4,
    "fusion_codes": 5, "recalc": 4, "fusion": 1,
}  # fmt: skip
"""Kinds of commands, each asked for once at first, and then by these shares."""
SLOW = ("fusion_codes", "recalc", "fusion")
TYPES = ("quote", "kline")
CODES = ("600040", "600041", "000001", "999999")


def newest(place: Installation) -> str:
    """The newest trade date whose data are complete."""

    return place.services.calendar.newest_complete(place.services.clock.now())


@dataclass
class Storm:
    """`size` commands; a kill after every `size / kills` of them that ended, of the worker and of a run in
    turn; every `cancel_every`-th command is asked to end while it waits or runs. `quick` leaves out what
    takes half a minute each."""

    place: Installation
    size: int
    kills: int
    seed: int = 20260821
    cancel_every: int = 6
    tasks: bool = False
    quick: bool = False
    asked: list[int] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)
    canceled: int = 0
    looks: int = 0
    moved: int = 0
    errors: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._asked_all, self._over = threading.Event(), threading.Event()
        self._kinds = [self._kind(number) for number in range(self.size)]
        self._days = self.place.services.calendar.last(12, newest(self.place))

    def run(self) -> None:
        """All of it, until every command has ended, or the platform hangs."""
        others = [self._cancel, self._kill, self._look_for_gaps, *([self._move_tasks] if self.tasks else [])]
        asking = [threading.Thread(target=self._guard, args=(self._ask,)) for _ in range(THREADS)]
        beside = [threading.Thread(target=self._guard, args=(what,)) for what in others]
        for thread in (*asking, *beside):
            thread.start()
        self._wait(lambda: not any(thread.is_alive() for thread in asking))
        self._asked_all.set()
        self._wait(lambda: not self._open())
        self._over.set()
        for thread in (*asking, *beside):
            thread.join()
        self._wait(lambda: not self._open())  # what a kill at the very end gave back

    # -- what happens -----------------------------------------------------------------------------

    def _guard(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as error:  # the storm's own threads: a test that lost one tells nothing
            self.errors.append(f"{what.__name__}: {type(error).__name__}: {error}")

    def _kind(self, number: int) -> str:
        shares = {name: share for name, share in KINDS.items() if not (self.quick and name in SLOW)}
        if number < len(shares):
            return list(shares)[number]
        return self._random.choices(list(shares), list(shares.values()))[0]

    def _ask(self) -> None:
        while not self.hung:
            with self._lock:
                if not self._kinds:
                    return
                kind = self._kinds.pop(0)
                luck = random.Random(self._random.random())
            while len(self._open()) >= MOST_OPEN and not self.hung:
                time.sleep(0.2)
            command = self._enqueue(kind, luck)
            with self._lock:
                self.asked.append(command.id)
            time.sleep(luck.uniform(0, 0.5))

    def _enqueue(self, kind: str, luck: random.Random) -> Command:
        codes = luck.sample(CODES, 2)
        day = luck.choice(self._days[-5:])
        if kind == "backfill":
            return self._backfill(luck)
        name, args = {
            "download": (
                "download",
                {"codes": codes, "types": [luck.choice(["quote", "kline"])], "date": day},
            ),
            "download_market": ("download_market", {"name": luck.choice(MARKET), "date": day}),
            "run_job": ("run_job", {"job": "security_list", "partition_key": self._days[-1]}),
            "wrong": ("run_job", {"job": luck.choice(["", "no_such_job"])}),
            "cleanup": ("cleanup", {"days": 365}),
            "fusion_codes": ("fusion_sync", {"codes": codes, "date": day}),
            "recalc": ("quant_recalc", {"codes": codes, "parts": ["indicators"], "date": day}),
            "fusion": ("fusion_sync", {"date": self._days[-1]}),
        }[kind]
        return self.place.services.commands.enqueue(name, args, requested_by="storm")

    def _backfill(self, luck: random.Random) -> Command:
        """As the API asks for one: a row, then its command; of a dataset that is busy, another command."""
        services, ledger = self.place.services, Backfills(self.place.services.engine)
        dataset = builtin_registry().dataset(luck.choice(DATASETS))
        table = table_of(dataset)
        first = luck.randrange(len(self._days) - 2)
        days = self._days[first : first + luck.randint(1, 3)]
        made = ledger.create(dataset.name, days[0], days[-1], days, by="storm", now=services.clock.now())
        try:
            return services.commands.enqueue_alone(
                "backfill",
                {"backfill_id": made.id, "table": table},
                requested_by="storm",
                about=table,
                same=lambda command: command.args.get("table") == table,
            )
        except ConflictError:
            ledger.settle(made.id, "canceled", now=services.clock.now())
            return services.commands.enqueue("cleanup", {"days": 365}, requested_by="storm")

    def _cancel(self) -> None:
        requested, luck = max(1, self.size // self.cancel_every), random.Random(self.seed + 1)
        while self.canceled < requested and not self._over.wait(luck.uniform(0.2, 2.0)):
            chosen = self._open()
            # Spread over the storm: not all of them in its first minutes.
            if chosen and len(self.asked) > self.canceled * self.cancel_every:
                with contextlib.suppress(ConflictError):
                    self.place.services.commands.cancel(luck.choice(chosen).id)
                    self.canceled += 1

    def _kill(self) -> None:
        luck = random.Random(self.seed + 2)
        for number in range(self.kills):
            due = self.size * (number + 1) // (self.kills + 1)
            while self._ended() < due:
                if self._over.wait(0.1):
                    return
            self._over.wait(luck.uniform(0.0, 1.5))  # somewhere within what is at work
            self._kill_one("worker" if number % 2 == 0 else "run", luck)

    def _kill_one(self, what: str, luck: random.Random) -> None:
        if what == "worker":
            chosen = [node.pid for node in self.place.services.heartbeats.all("worker")]
            alive = [pid for pid in chosen if pid in self.place.processes("schedules.commands.worker")]
        else:
            alive = list(self.place.processes("spawn_main"))
        if alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(luck.choice(alive), signal.SIGKILL)
                self.killed[what] += 1

    def _look_for_gaps(self) -> None:
        keeper = GapKeeper(self.place.services)
        while not self._asked_all.wait(5.0):
            with contextlib.suppress(ConflictError):
                keeper.look(self.place.services.clock.now())
                self.looks += 1

    def _move_tasks(self) -> None:
        luck = random.Random(self.seed + 3)
        while not self._asked_all.wait(45.0):
            now = SystemClock().now()
            minute = now.hour * 60 + now.minute + 2
            if minute < 24 * 60:
                hm = minute // 60 * 100 + minute % 60
                self.place.services.tasks.retime(luck.choice(MOVED), hm, by="storm", now=now)
                self.moved += 1

    # -- looking ----------------------------------------------------------------------------------

    def _open(self) -> list[Command]:
        queue = self.place.services.commands
        return [one for status in OPEN for one in queue.recent(status=status, limit=500)[0]]

    def _ended(self) -> int:
        queue = self.place.services.commands
        return sum(queue.recent(status=status, limit=1)[1] for status in ("success", "failed", "canceled"))

    def _wait(self, done: Callable[[], bool]) -> None:
        """Until `done`; notes a hang when no command ends for HANG_S."""
        ended, since = self._ended(), time.monotonic()
        while not done():
            time.sleep(0.5)
            now = self._ended()
            if now != ended:
                ended, since = now, time.monotonic()
            elif time.monotonic() - since > HANG_S:
                self.hung = [f"{one.id} {one.command} {one.status} {one.result}" for one in self._open()]
                return


def settled(place: Installation, patience_s: float) -> list[str]:
    """What is wrong with the records, as soon as nothing is; what is left after `patience_s` else. Reapers
    and sweeps take their time, and a task may be at work yet."""
    end = time.monotonic() + patience_s
    while (found := differences(place)) and time.monotonic() < end:
        time.sleep(2.0)
    return found


def differences(place: Installation) -> list[str]:
    """Every record of ours that is open, or says something else than Dagster's run storage."""
    with contextlib.suppress(PlatformError):
        return [
            *_left_open(place), *_slots(place), *_commands(place), *_backfills(place), *_batches(place),
            *_orchestrator(place),
        ]  # fmt: skip
    return ["the database could not be read"]


def _rows(place: Installation, statement: str) -> list[tuple[Any, ...]]:
    with reading(place.services.engine) as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement).all()]


def _run(place: Installation, run_id: str) -> str | None:
    run = place.instance.get_run_by_id(run_id)
    return None if run is None else str(run.status.value)


def _left_open(place: Installation) -> list[str]:
    found = []
    for table, name, where in (
        ("sys_command", "id", "status IN ('queued', 'running')"),
        ("sys_backfill", "backfill_id", "status IN ('queued', 'running')"),
        ("sys_slot", "slot", "status='running' OR (status='queued' AND claimed_by IS NOT NULL)"),
        ("sys_batch", "batch_id", "status='running'"),
        ("sys_gap", "partition_key", "status='running'"),
        ("sys_heartbeat", "node_id", "role='run'"),
    ):
        for (key,) in _rows(place, f"SELECT {name} FROM {table} WHERE {where}"):
            found.append(f"{table} {key} is open")
    held = [state for state in place.services.locks.states() if state.held]
    return found + [f"lock {state.domain} is held by {state.owner}" for state in held]


ENDS = {
    "SUCCESS": {"success", "partial"},
    "FAILURE": {"failed", "partial"},
    "CANCELED": {"canceled"},
    None: {"failed", "canceled"},
}
"""Dagster's status (None: it never knew the run) -> what its row, or a command of this one run, may say."""


def _slots(place: Installation) -> list[str]:
    rows = _rows(
        place, "SELECT task_key, slot, run_id, status, reason FROM sys_slot WHERE run_id IS NOT NULL"
    )
    reported = [(*row, _run(place, str(row[2]))) for row in rows]
    return [
        f"slot {task} {slot}: {status} ({reason}), its run {run_id} is {fate}"
        for task, slot, run_id, status, reason, fate in reported
        if status not in ENDS.get(fate, set())
    ]


def _commands(place: Installation) -> list[str]:
    found = []
    for command in place.services.commands.recent(limit=10_000)[0]:
        fates = {run_id: _run(place, run_id) for run_id in command.result.get("runs", ())}
        found += [
            f"command {command.id} has ended, its run {run_id} is {fate}"
            for run_id, fate in fates.items()
            if fate not in ENDS
        ]
        if command.command == "run_job" and command.run_id is not None and _ended_at_work(command):
            fate = fates.get(command.run_id)
            if command.status not in ENDS.get(fate, set()):
                found.append(f"command {command.id} is {command.status}, its run {command.run_id} is {fate}")
        if command.status == "failed" and not command.error:
            found.append(f"command {command.id} failed without a reason")
    return found


def _ended_at_work(command: Command) -> bool:
    """Whether the worker that had the run told the end. One that died after the run could not, and a command
    that was queued again has no owner when it is canceled there: their runs may be a success."""
    return command.status not in OPEN and command.owner is not None and command.error != DIED_AT_WORK


def _backfills(place: Installation) -> list[str]:
    """The row against its command, and against what its runs committed."""
    found = []
    ledger = Backfills(place.services.engine)
    newest: dict[str, Command] = {}
    for command in place.services.commands.of_name("backfill", statuses=("success", "failed", "canceled")):
        newest.setdefault(str(command.args.get("backfill_id")), command)
    for one in ledger.recent(limit=10_000)[0]:
        last = newest.get(one.id)
        if last is None:
            if one.status not in {"canceled", "failed"}:
                found.append(f"backfill {one.id} is {one.status} and has no command")
            continue
        loaded = ledger.loaded(one.run_ids, str(last.args["table"])).days & set(one.days)
        fits = {
            "success": {"success", "partial", "failed", "canceled"},
            "failed": {"failed"},
            "canceled": {"canceled"},
        }[last.status]
        if one.status not in fits:
            found.append(f"backfill {one.id} is {one.status}, its command {last.id} {last.status}")
        if one.status == "success" and len(loaded) != len(one.days):
            found.append(f"backfill {one.id} is a success with {len(loaded)} of {len(one.days)} dates")
    return found


def _batches(place: Installation) -> list[str]:
    rows = _rows(place, "SELECT batch_id, run_id, status FROM sys_batch WHERE run_id IS NOT NULL")
    known = {run_id: _run(place, str(run_id)) for run_id in {row[1] for row in rows}}
    return [
        f"batch {batch_id} is {status} of run {run_id}, which Dagster has as {known[run_id]}"
        for batch_id, run_id, status in rows
        if known[run_id] not in ENDS or known[run_id] is None
    ]


def _orchestrator(place: Installation) -> list[str]:
    """Runs that Dagster still has at work."""
    from dagster import DagsterRunStatus, RunsFilter

    ended = (DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)
    at_work = [status for status in DagsterRunStatus if status not in ended]
    return [
        f"run {run.run_id} of {run.job_name} is {run.status.value}"
        for run in place.instance.get_runs(RunsFilter(statuses=at_work))
    ]
