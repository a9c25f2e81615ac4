"""Which days of a file set are the real day's: the newest trade date of its bars and the sessions before."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path

from core.calendar import FIRST_PARTITION
from simulated_market.world.replay_files import BARS, OPTIONAL, locate

SESSIONS = 61
CLOSED = time(15, 45)
SETTLED = 6
"""Rows of a set before its window: what a code without a listing date has as history at least."""


class NotUsable(Exception):
    """A file set of which no day can be made; the text says why."""


@dataclass(frozen=True)
class Window:
    """Trade dates of the window, oldest first; the last one is the day itself."""

    dates: tuple[str, ...]

    @property
    def since(self) -> str:
        return self.dates[0]

    @property
    def until(self) -> str:
        """The last date that the backfill loads."""
        return self.dates[-2]

    @property
    def today(self) -> str:
        return self.dates[-1]

    @property
    def now(self) -> datetime:
        """The time of the market's clock: after the close of the day."""
        return datetime.combine(datetime.fromisoformat(self.today), CLOSED)

    def back(self, sessions: int) -> str:
        """The date so many sessions before the day, or the window's first."""
        return self.dates[max(0, len(self.dates) - 1 - sessions)]


def window_of(folder: Path, sessions: int = SESSIONS, until: str | None = None) -> Window:
    """The newest `sessions` trade dates of the bars, those up to `until` if that is given.

    NotUsable when the set has no bars, or fewer than three dates after the rows that go before.
    """
    known = sorted({line["date"] for line in lines_of(folder, BARS)})
    asked = [date for date in known if until is None or date <= until]
    usable = [date for date in asked[SETTLED:] if date >= FIRST_PARTITION]
    if len(usable) < 3:
        raise NotUsable(
            f"{folder}: {len(usable)} trade dates can be a window, 3 are the least (from {FIRST_PARTITION} "
            f"on, up to {until or 'the end'}, without the first {SETTLED} of the set)"
        )
    return Window(tuple(usable[-max(sessions, 3) :]))


def absent_files(folder: Path) -> list[str]:
    """The optional files that a set does not have, by their known names."""
    return [name for name in OPTIONAL if locate(folder, name) is None]


def lines_of(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """Rows of one file of the set; none of an optional one that is not there."""
    path = locate(folder, name)
    if path is None:
        if name == BARS:
            raise NotUsable(f"{folder} has no daily bars (bars_daily_raw_*.csv or .csv.gz)")
        return
    body = path.read_bytes()
    text = gzip.decompress(body) if path.suffix == ".gz" else body
    yield from csv.DictReader(text.decode("utf-8").splitlines())
