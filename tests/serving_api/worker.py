"""A worker that a test plays: it claims the next command and does with it what the test says."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import Command, CommandQueue

Work = Callable[[CommandQueue, Command], None]


def succeed(result: dict[str, Any]) -> Work:
    def work(queue: CommandQueue, command: Command) -> None:
        queue.finish(command, "success", result=result)

    return work


def fail(error: str) -> Work:
    def work(queue: CommandQueue, command: Command) -> None:
        queue.finish(command, "failed", error=error)

    return work


@contextmanager
def worker(url: str, work: Work) -> Iterator[list[Command]]:
    """Carries out the next commands while the block runs; yields those that it got."""
    queue, stop, done = CommandQueue(make_engine(url)), threading.Event(), list[Command]()

    def run() -> None:
        while not stop.wait(0.005):
            command = queue.claim("test")
            if command is not None:
                done.append(command)
                work(queue, command)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()
