"""What a handler gets to work with: its command, the services, and runs that leave their records."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import ConflictError, InputError, PlatformError, StorageError, Unavailable
from resources import tracing
from resources.orchestrator import RANGE_END, RANGE_START
from resources.warehouse.ledger.commands import Command
from schedules import run_tags as names
from schedules.commands import lane_heartbeats
from schedules.runs.outcome import JobRunner, RunFate, RunOptions, RunOutcome
from schedules.services import Services

CANCELED = "canceled"
GOING_DOWN = "the worker is going down"
TERMINATED = "its run was terminated"
LOOK_S = 0.5
"""Between two looks at a run that is waited for."""
LAUNCH_S = 300.0
"""So long a run is asked for again while Dagster is away or starts."""
ENDING_S = 200.0
"""So long the end of an earlier run is waited for: Dagster itself gives one up after 180 s."""
MAX_CODES = 500


class Stopped(PlatformError):
    """The command was canceled, or its worker is going down, within a run or between two."""


@dataclass
class Work:
    """One claimed command in the hands of a worker."""

    command: Command
    services: Services
    runner: JobRunner
    node: str
    stopping: threading.Event = field(default_factory=threading.Event)
    run_ids: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def args(self) -> dict[str, Any]:
        return self.command.args

    def whole(self, name: str, default: int) -> int:
        """An argument that is a whole number; InputError when it is none."""
        value = self.args.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(name, "is a whole number")
        return value

    @property
    def date(self) -> str:
        """The argument `date`; without one the newest trade date whose session is over."""
        services = self.services
        return str(self.args.get("date") or services.calendar.newest_complete(services.clock.now()))

    @property
    def codes(self) -> list[str]:
        """The argument `codes`, each once; InputError when they are no list, or too many."""
        codes, given = self.texts("codes"), len(self.args.get("codes") or ())
        if given > MAX_CODES:
            raise InputError("codes", f"{given} given, {MAX_CODES} are allowed")
        return codes

    def texts(self, name: str) -> list[str]:
        """An argument that is a list of texts, each once; [] without one. InputError for anything else."""
        given = self.args.get(name) or []
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise InputError(name, "is a list of texts")
        return list(dict.fromkeys(given))

    def progress(self, *, run_id: str | None = None, **facts: Any) -> None:
        """Add to what the command's `result` shows. ConflictError when the claim was lost."""
        self.facts.update(facts)
        if not self.services.commands.progress(self.command, self.facts, run_id=run_id):
            raise ConflictError(f"command {self.command.id} is no longer ours")

    def check(self) -> None:
        """Between two runs: raises Stopped when nobody wants the rest any more."""
        lane_heartbeats.alive()
        reason = self.stop_wanted()
        if reason is not None:
            raise Stopped(reason)

    def stop_wanted(self) -> str | None:
        """Why the command is to stop, None while it is to go on; looks into the database."""
        if self.services.commands.cancel_requested(self.command):
            return CANCELED
        if self.stopping.is_set():
            return GOING_DOWN
        return None

    def end_earlier_runs(self) -> None:
        """End what an earlier worker left at work for this command, and wait for that: two runs of one
        command would be in each other's way. Raises Stopped."""
        until = time.monotonic() + ENDING_S
        asked: set[str] = set()
        while (left := self.runner.open_runs(self.command.id)) and time.monotonic() < until:
            self.check()
            asked |= {run_id for run_id in set(left) - asked if self._terminated(run_id)}
            time.sleep(LOOK_S)

    def run_job(
        self,
        job: str,
        *,
        partition_key: str | None = None,
        partition_range: tuple[str, str] | None = None,
        trigger: str = "manual",
        tags: Mapping[str, str] | None = None,
        run_config: Mapping[str, Any] | None = None,
    ) -> RunOutcome:
        """One run of a job or of a dataset, for one partition, a range of partitions, or neither: launched by
        Dagster and watched to its end. It has a row in the ledger of scheduled runs, so that the list of task
        runs shows it. NotFound for an unknown job; Stopped when nobody wants the rest."""
        date = partition_key or (partition_range[1] if partition_range else None)
        carried = {
            names.TASK: job,
            names.TRIGGER: trigger,
            names.OWNER: self.node,
            names.COMMAND: str(self.command.id),
            **names.ONCE,
        }
        if date is not None:
            carried[names.TRADE_DATE] = date
        if partition_range is not None:
            carried[RANGE_START], carried[RANGE_END] = partition_range
        ledger, clock = self.services.scheduled_runs, self.services.clock
        with tracing.span(f"run {job}", attributes={"ashare.partition": date}) as step:
            carried |= {**tracing.run_tags(), **(tags or {})}
            how: RunOptions = {"partition_key": partition_key, "tags": carried, "run_config": run_config}
            run_id = self._launched(lambda: self.runner.launch(job, **how))
            step.set({"ashare.run_id": run_id})
            self._enter(job, run_id, date)
            fate = self._watched(run_id)
            if fate.status == "canceled":
                reason = self._stop_reason() or TERMINATED
                ledger.finish(run_id, "canceled", now=clock.now(), reason=reason)
                raise Stopped(reason)
            status = fate.status
            if status == "success" and ledger.batches_failed(run_id):
                status = "partial"
            ledger.finish(run_id, status, now=clock.now(), reason=fate.reason)
            if fate.status != "success":
                step.fail("the run failed")
        return RunOutcome(
            run_id,
            fate.status == "success",
            fate.reason,
            self.runner.answer(run_id),
            partial=fate.status == "partial",
            lacks_parts=fate.lacks_parts,
        )

    def launch_backfill(self, dataset: str, days: Sequence[str], tags: Mapping[str, str]) -> str:
        """The id of a new backfill of Dagster, one for each command. Stopped when nobody wants it."""
        title = f"{dataset}, command {self.command.id}"
        return self._launched(lambda: self.runner.launch_backfill(dataset, days, title, tags))

    def _launched(self, launch: Callable[[], str]) -> str:
        until = time.monotonic() + LAUNCH_S
        while True:
            self.check()
            try:
                return launch()
            except Unavailable:
                if time.monotonic() > until:
                    raise
            time.sleep(LOOK_S)

    def _enter(self, job: str, run_id: str, date: str | None) -> None:
        """Write down a new run. One that could not be written down is ended: nobody would look after it."""
        self.run_ids.append(run_id)
        try:
            self.progress(run_id=run_id, runs=list(self.run_ids))
            self.services.scheduled_runs.by_hand(
                job,
                at=self.services.clock.now(),
                trade_date=date,
                command_id=self.command.id,
                run_id=run_id,
                claim=self.command,
            )
        except PlatformError:
            self._terminated(run_id)
            raise

    def _watched(self, run_id: str) -> RunFate:
        """How a run ended; it is terminated as soon as nobody wants it any more. A worker that is going down
        does not wait for that."""
        terminated = False
        while True:
            lane_heartbeats.alive()
            fate = self.runner.fate(run_id)
            if fate is None:
                return RunFate("failed", "its run does not exist any more")
            if fate.status != "open":
                return fate
            reason = None if terminated else self._stop_reason()
            if reason is not None:
                terminated = self._terminated(run_id)
            if reason == GOING_DOWN:
                return RunFate("canceled")
            time.sleep(LOOK_S)

    def _terminated(self, run_id: str) -> bool:
        """Whether the end of a run could be asked for."""
        with contextlib.suppress(PlatformError):
            self.runner.terminate(run_id)
            return True
        return False

    def _stop_reason(self) -> str | None:
        """`stop_wanted`, where a database that is busy is looked at again later."""
        with contextlib.suppress(StorageError):
            return self.stop_wanted()
        return GOING_DOWN if self.stopping.is_set() else None

    def answer_of(self, job: str, **config: Any) -> dict[str, Any]:
        """A run of a job whose op `answer` takes `config`: its id and what the op gave back, also of a run
        that failed in part. PlatformError when it came to no answer."""
        outcome = self.run_job(job, trigger="api", run_config={"ops": {"answer": {"config": config}}})
        if outcome.answer is None:
            self.must(outcome, job)
        return {**self.facts, "run_id": outcome.run_id, **(outcome.answer or {})}

    def must(self, outcome: RunOutcome, what: str) -> None:
        """PlatformError when a run failed, as a whole or in part; the command's result then names what was
        loaded in part (`partial`)."""
        if not outcome.success:
            if outcome.partial:
                self.progress(partial={what: outcome.error or f"see the run {outcome.run_id}"})
            how = "was loaded in part" if outcome.partial else "failed"
            raise PlatformError(f"{what} {how}: {outcome.error or 'see the run ' + outcome.run_id}")


@dataclass(frozen=True)
class Handler:
    """How a command is carried out. `run` returns the command's result; it raises PlatformError when the
    command failed. `long` commands have a lane of their own, so that a load of many minutes does not hold
    up a download."""

    run: Callable[[Work], dict[str, Any]]
    long: bool = False
