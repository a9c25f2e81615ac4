"""What each part of the API brings that does the work of a library in another way. One request or read at a
time in this process, CPU time; the baseline is the library's own way."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from serving_api.db.sessions import Reading, Session
from serving_api.stocks import queries
from tests.benchmarks.measure import Figure, interleaved
from tests.serving_api import market

REQUESTS, SAMPLES = 300, 9


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
        warehouse = market.open_warehouse(url, folder)
        warehouse.migrate()
        market.fill(warehouse)
        warehouse.close()
        yield from connections(url, folder)


def connections(url: str, folder: Path) -> Iterator[Figure]:
    """Reads over the sqlite3 connection of a thread beside the same over SQLAlchemy."""
    warehouse = market.open_warehouse(url, folder, read_only=True)
    reading = Reading(warehouse)
    with warehouse.connect() as connection:
        theirs = Session(warehouse, connection)

        def reads(session: Session) -> Iterator[Callable[[], object]]:
            yield session.data_version
            yield lambda: queries.bars(session, "600519", 120, None, "qfq")

        names = ("version of the file", "120 bars")
        for name, mine, other in zip(names, reading.now(reads), reads(theirs), strict=True):
            yield figure(f"{name} over sqlite3, vs SQLAlchemy", *compared(_times(mine), _times(other)))
    reading.close()


def figure(check: str, mine: float, theirs: float) -> Figure:
    """Seconds of `REQUESTS` of each. A shortcut that brings nothing is to be removed."""
    one, other = (f"{seconds / REQUESTS * 1e6:.1f} us" for seconds in (mine, theirs))
    return Figure(check, one, other, theirs / mine, 1.1)


def compared(*sides: Callable[[], object]) -> list[float]:
    """CPU seconds of each side."""
    for side in sides:
        side()
    numbered = [lambda _number, side=side: side() for side in sides]  # type: ignore[misc]
    return interleaved(SAMPLES, *numbered, clock=time.process_time)


def _times(read: Callable[[], object]) -> Callable[[], None]:
    def repeated() -> None:
        for _ in range(REQUESTS):
            read()

    return repeated
