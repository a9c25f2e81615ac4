"""Processes that write until somebody kills them. Run in a process forked from a clean server."""

import multiprocessing
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.kill.marks import Marks
from tests.kill.scene import open_scene, write_range, write_revision

_SHORT_TTL_S = 0.3


def context() -> ForkServerContext:
    """Each child is a fork of one server that has imported everything and opened nothing: a process of
    its own within milliseconds."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.kill.children"])
    return made


def write_on(
    url: str, folder: str, marks: str, first: int, last: int, ttl_s: float | None, die_after: int | None
) -> None:
    """Write the revisions first..last under the lease of 'kline', reporting progress to `marks`."""
    warehouse = open_scene(url, Path(folder), ttl_s=ttl_s)
    report = Marks(Path(marks), die_after=die_after)
    report.watch(warehouse.engine)
    with warehouse.locks.held(("kline",), f"writer {first}") as lease:
        report.note("ready")
        for revision in range(first, last + 1):
            write_revision(warehouse, revision, lease)
            report.done(str(revision))
    warehouse.close()


def write_days(url: str, folder: str, marks: str, days: list[str], die_after: int) -> None:
    """Write a range of days in one transaction, and die after so many of its statements."""
    warehouse = open_scene(url, Path(folder), ttl_s=_SHORT_TTL_S)
    report = Marks(Path(marks), die_after=die_after)
    report.watch(warehouse.engine)
    with warehouse.locks.held(("kline",), "the range") as lease:
        write_range(warehouse, days, lease)
        report.done("range")
    warehouse.close()


def start(target: object, *arguments: object) -> BaseProcess:
    process = context().Process(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
    process.start()
    return process
