"""What a handler gets to work with: its command, the services, and runs that leave their records."""

import contextlib
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ConflictError, InputError, NotFound, PlatformError, StorageError
from core.stopping import Requested, stoppable
from resources import tracing
from resources.warehouse.ledger.commands import Command
from schedules import run_tags as names
from schedules.commands import lane_heartbeats
from schedules.runs.outcome import RANGE_END, RANGE_START, JobRunner, RunOutcome
from schedules.services import Services

CANCELED = "canceled"
GOING_DOWN = "the worker is going down"
TERMINATED = "its run was terminated"
LOOK_S = 1.0
MAX_CODES = 500


class Stopped(PlatformError):
    """The command was canceled, or its worker is going down, at a safe point within a run or between two."""


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
        """A safe point between two runs: raises Stopped when nobody wants the rest any more."""
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

    def _listener(self, run_id: str) -> Requested:
        """What the safe points of a run ask. They are passed often, by several threads: the database is
        looked at once in LOOK_S, and a database that is busy is looked at again later."""
        next_look = time.monotonic()
        reason: str | None = None

        def requested() -> str | None:
            nonlocal next_look, reason
            if reason is None and self.stopping.is_set():
                reason = GOING_DOWN
            if reason is not None or time.monotonic() < next_look:
                return reason
            next_look = time.monotonic() + LOOK_S
            with contextlib.suppress(StorageError):
                reason = self.stop_wanted()
            if reason is None and self.runner.terminated(run_id):
                reason = TERMINATED
            return reason

        return requested

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
        """One run of a job in this process, for one partition, a range of partitions, or neither. It has a
        row in the ledger of scheduled runs, so that the list of task runs shows it. NotFound for an unknown
        job; Stopped when the run ended at a safe point because nobody wants the rest."""
        if not self.runner.has(job):
            raise NotFound(f"no job {job!r}")
        run_id = str(uuid.uuid4())
        date = partition_key or (partition_range[1] if partition_range else None)
        carried = {
            names.TASK: job,
            names.TRIGGER: trigger,
            names.OWNER: self.node,
            names.COMMAND: str(self.command.id),
        }
        if date is not None:
            carried[names.TRADE_DATE] = date
        if partition_range is not None:
            carried[RANGE_START], carried[RANGE_END] = partition_range
        carried |= {**tracing.run_tags(), **(tags or {})}
        ledger, clock = self.services.scheduled_runs, self.services.clock
        self.run_ids.append(run_id)
        self.progress(run_id=run_id, runs=list(self.run_ids))
        ledger.by_hand(
            job,
            at=clock.now(),
            trade_date=date,
            command_id=self.command.id,
            run_id=run_id,
            claim=self.command,
        )
        requested = self._listener(run_id)
        try:
            with stoppable(requested):
                outcome = self.runner.run(
                    job, run_id=run_id, partition_key=partition_key, tags=carried, run_config=run_config
                )
        except Exception as error:
            # Whatever kept the run from starting: its row must not stay open.
            ledger.finish(run_id, "failed", now=clock.now(), reason=f"{type(error).__name__}: {error}")
            raise
        if outcome.canceled:
            reason = requested() or TERMINATED
            ledger.finish(run_id, "canceled", now=clock.now(), reason=reason)
            raise Stopped(reason)
        status = "partial" if outcome.partial else "failed"
        if outcome.success:
            status = "partial" if ledger.batches_failed(run_id) else "success"
        ledger.finish(run_id, status, now=clock.now(), reason=outcome.error)
        return outcome

    def answer_of(self, job: str, **config: Any) -> dict[str, Any]:
        """A run of a job whose op `answer` takes `config`: its id and what the op gave back, also of a run
        that failed in part. PlatformError when it came to no answer."""
        outcome = self.run_job(job, trigger="api", run_config={"ops": {"answer": {"config": config}}})
        if outcome.answer is None:
            self.must(outcome, job)
        return {**self.facts, "run_id": outcome.run_id, **(outcome.answer or {})}

    def must(self, outcome: RunOutcome, what: str) -> None:
        """PlatformError when a run failed, as a whole or in part."""
        if not outcome.success:
            how = "was loaded in part" if outcome.partial else "failed"
            raise PlatformError(f"{what} {how}: {outcome.error or 'see the run ' + outcome.run_id}")


@dataclass(frozen=True)
class Handler:
    """How a command is carried out. `run` returns the command's result; it raises PlatformError when the
    command failed. `long` commands have a lane of their own, so that a load of many minutes does not hold
    up a download."""

    run: Callable[[Work], dict[str, Any]]
    long: bool = False
