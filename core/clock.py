"""Clocks. Every time in the project is naive local exchange time (Asia/Shanghai).

Two clocks, never mixed (architecture §12): the *market clock* says what day it is, what is visible
and what is due, and can be frozen; the *system clock* (`time.monotonic`, `time.time`) drives tokens,
locks, heartbeats and timeouts. This module holds the market clock and the sleeper that tests replace.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

# Asia/Shanghai has had no daylight saving since 1991, so a fixed offset is exact for all our data.
SHANGHAI = timedelta(hours=8)
"""Exchange time is this much ahead of UTC."""


class Clock(Protocol):
    """The market clock."""

    @property
    def frozen(self) -> bool: ...

    def now(self) -> datetime:
        """Naive local exchange time."""
        ...


class SystemClock:
    """Real time in Asia/Shanghai."""

    frozen = False

    def now(self) -> datetime:
        return datetime.now(UTC).replace(tzinfo=None) + SHANGHAI


@dataclass(frozen=True)
class FrozenClock:
    """A market clock that is frozen at `at` (SAMPLE_NOW, tests, replay)."""

    at: datetime
    frozen: bool = True

    def now(self) -> datetime:
        return self.at


@dataclass
class ManualClock:
    """A market clock that a test moves by hand."""

    at: datetime
    frozen: bool = True

    def now(self) -> datetime:
        return self.at

    def advance(self, delta: timedelta) -> None:
        self.at += delta


class Sleeper(Protocol):
    """How long waits are spent; tests inject one that only counts."""

    def __call__(self, seconds: float, /) -> None: ...


def real_sleep(seconds: float, /) -> None:
    time.sleep(seconds)


def stamp(value: datetime) -> str:
    """ISO text with microseconds and a blank, as both engines store and return it."""
    return value.strftime("%Y-%m-%d %H:%M:%S.%f")


def local_iso(moment: datetime) -> str:
    """Naive local exchange time as ISO 8601 with its offset."""
    return f"{moment.isoformat(timespec='microseconds' if moment.microsecond else 'seconds')}+08:00"
