"""Waits for a command of the queue, outside of the event loop: Ctrl-C ends the waiting at once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Engine

from ashare.session import command_settings
from core.errors import PlatformError
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from schedules.supervisor.progress import Say, follow
from serving_api.admin.waiting import failure

LOOK_S = 0.5


@contextmanager
def _reading() -> Iterator[Engine]:
    engine = make_engine(command_settings().warehouse_address, read_only=True)
    try:
        yield engine
    finally:
        engine.dispose()


def finished(command_id: int, say: Say, *, in_part: bool = False) -> Command:
    """The command when it has ended; `say` gets a line for each of its steps. PlatformError when it failed or
    was canceled, or, unless `in_part`, loaded only a part."""
    with _reading() as engine:
        ended = follow(CommandQueue(engine), command_id, say, threading.Event(), look_s=LOOK_S)
    reason = "nobody waits for it any more" if ended is None else failure(ended)
    if ended is None or (reason is not None and not (in_part and part_of(ended))):
        raise PlatformError(f"command {command_id}: {reason}")
    return ended


def part_of(command: Command) -> dict[str, str]:
    """What a command loaded in part -> what is missing of it; {} where something failed as a whole."""
    part: dict[str, str] = {} if command.result.get("failed") else command.result.get("partial", {})
    return part


def loaded(backfill_id: str, done: Callable[[int, int], None]) -> None:
    """Returns when a backfill has ended; `done` gets the numbers of its loaded and failed dates."""
    with _reading() as engine:
        while not (row := Backfills(engine).get(backfill_id)).ended:
            done(row.done, row.failed)
            time.sleep(LOOK_S)
        done(row.done, row.failed)
