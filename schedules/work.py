"""What a handler gets to work with: its command, the house, and runs that leave their traces."""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.errors import ConflictError, NotFound, PlatformError
from resources.warehouse.ledger.commands import Command
from schedules import tags as names
from schedules.house import House
from schedules.runner import RANGE_END, RANGE_START, JobRunner, RunOutcome


class Stopped(PlatformError):
    """The command was canceled, or its worker is going down, at a safe point between two steps."""


@dataclass
class Work:
    """One claimed command in the hands of a worker."""

    command: Command
    house: House
    runner: JobRunner
    node: str
    stopping: threading.Event = field(default_factory=threading.Event)
    run_ids: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def args(self) -> dict[str, Any]:
        return self.command.args

    def progress(self, *, run_id: str | None = None, **facts: Any) -> None:
        """Add to what the command's `result` shows. ConflictError when the claim was lost."""
        self.facts.update(facts)
        if not self.house.commands.progress(self.command, self.facts, run_id=run_id):
            raise ConflictError(f"command {self.command.id} is no longer ours")

    def check(self) -> None:
        """A safe point: raises Stopped when nobody wants the rest any more."""
        if self.house.commands.cancel_wanted(self.command):
            raise Stopped("canceled")
        if self.stopping.is_set():
            raise Stopped("the worker is going down")

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
        row in the slot ledger, so that the list of task runs shows it. NotFound for an unknown job."""
        if not self.runner.has(job):
            raise NotFound(f"no job {job!r}")
        run_id = str(uuid.uuid4())
        date = partition_key or (partition_range[1] if partition_range else None)
        carried = {
            names.TASK: job,
            names.TRIGGER: trigger,
            names.OWNER: self.node,
            names.COMMAND: str(self.command.id),
            **({} if date is None else {names.TRADE_DATE: date}),
            **(
                {}
                if partition_range is None
                else dict(zip((RANGE_START, RANGE_END), partition_range, strict=True))
            ),
            **(tags or {}),
        }
        slots, clock = self.house.slots, self.house.clock
        self.run_ids.append(run_id)
        self.progress(run_id=run_id, runs=list(self.run_ids))
        slots.by_hand(job, at=clock.now(), trade_date=date, command_id=self.command.id, run_id=run_id)
        try:
            outcome = self.runner.run(
                job, run_id=run_id, partition_key=partition_key, tags=carried, run_config=run_config
            )
        except Exception as error:
            # Whatever kept the run from starting: its row must not stay open.
            slots.finish(run_id, "failed", now=clock.now(), reason=f"{type(error).__name__}: {error}")
            raise
        status = "failed"
        if outcome.success:
            status = "partial" if slots.batches_failed(run_id) else "success"
        slots.finish(run_id, status, now=clock.now(), reason=outcome.error)
        return outcome

    def must(self, outcome: RunOutcome, what: str) -> None:
        """PlatformError when a run failed."""
        if not outcome.success:
            raise PlatformError(f"{what} failed: {outcome.error or 'see the run ' + outcome.run_id}")


@dataclass(frozen=True)
class Handler:
    """How a command is carried out. `run` returns the command's result; it raises PlatformError when the
    command failed. `long` commands have a lane of their own, so that a load of many minutes does not hold
    up a download."""

    run: Callable[[Work], dict[str, Any]]
    long: bool = False
