"""Waits for a command of the queue, outside of the event loop: Ctrl-C ends the waiting at once."""

import threading
from collections.abc import Callable

from ashare.session import command_settings
from core.errors import PlatformError
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.commands import Command, CommandQueue
from schedules.supervisor.progress import Say, follow
from serving_api.admin.waiting import failure

LOOK_S = 0.5
Done = Callable[[int], None]


def finished(command_id: int, say: Say, *, backfill: str = "", done: Done | None = None) -> Command:
    """The command when it has ended; `say` gets a line for each of its steps, `done` the number of loaded
    dates of its `backfill`. PlatformError when it failed or was canceled."""
    engine = make_engine(command_settings().warehouse_address, read_only=True)
    try:
        ledger = Backfills(engine)

        def look() -> None:
            if done is not None:
                done(ledger.get(backfill).done)

        ended = follow(CommandQueue(engine), command_id, say, threading.Event(), watch=look, look_s=LOOK_S)
        look()
    finally:
        engine.dispose()
    reason = "nobody waits for it any more" if ended is None else failure(ended)
    if ended is None or reason is not None:
        raise PlatformError(f"command {command_id}: {reason}")
    return ended
