"""The load of a new or outdated warehouse, asked of the worker and shown while it runs."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from core.errors import ConflictError, PlatformError
from platform_assets.task_table import CALENDAR
from platform_assets.task_table import EOD_CORE as DAY
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.ledger.scheduled_run_reads import DONE
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger

COMMAND = "initial_load"
WHOLE_DAY = "whole_day"
LOOK_S = 1.0
AGAIN_S = 15.0
"""A step that goes on says so often what it has done."""
Say = Callable[[str], None]


def loaded_before(ledger: ScheduledRunLedger) -> bool:
    """Whether any day was ever loaded, be it without what a dead source alone has."""
    return any(ledger.done_dates(job, DONE) for job in (DAY, WHOLE_DAY))


def request_load(queue: CommandQueue) -> Command:
    """The load that is under way (a start that was interrupted left it), or a new one."""
    under_way = queue.of_name(COMMAND, statuses=("queued", "running"))
    if under_way:
        return under_way[0]
    return queue.enqueue(COMMAND, {}, requested_by="supervisor", max_attempts=3)


def request_calendar(queue: CommandQueue) -> None:
    """At every start the published trade dates are looked for, also where nothing else is loaded unasked."""
    with suppress(ConflictError):  # a start that was interrupted asked already
        queue.enqueue_alone(
            "run_job", {"job": CALENDAR, "trigger": "catchup"}, requested_by="supervisor", about=CALENDAR,
            same=lambda one: one.args.get("job") == CALENDAR,
        )  # fmt: skip


def describe(command: Command) -> str:
    """One line about how far a load is."""
    if command.status == "queued":
        return "waiting for the worker"
    stage = command.result.get("stage")
    if stage is None:
        return "planning"
    return f"step {command.result.get('step', '?')} of {command.result.get('steps', '?')}: {stage}"


def counted(queue: CommandQueue, command: Command) -> str:
    """What the run under way has written and asked so far; empty before its first batch."""
    runs = command.result.get("runs") or ()
    tables, rows, calls = queue.work_of_run(str(runs[-1])) if runs else (0, 0, 0)
    return f"{tables} tables, {rows:,} rows, {calls:,} calls" if tables else ""


def follow(
    queue: CommandQueue,
    command_id: int,
    say: Say,
    stopping: threading.Event,
    *,
    watch: Callable[[], None] = lambda: None,
    look_s: float = LOOK_S,
) -> Command | None:
    """Say each step once until the load ends; None when the supervisor is to stop first. `watch` is
    called between looks."""
    begun = time.monotonic()
    last, said = "", 0.0
    while not stopping.is_set():
        watch()
        try:
            command = queue.get(command_id)
        except PlatformError as error:
            say(f"loading: {error.message}")
            stopping.wait(look_s)
            continue
        if command.finished:
            return command
        line = describe(command)
        seconds = time.monotonic() - begun
        if line != last or seconds - said > AGAIN_S:
            done = counted(queue, command)
            say(f"loading, {line}{done and f'; {done}'} ({seconds:.0f} s)")
            last, said = line, seconds
        stopping.wait(look_s)
    return None
