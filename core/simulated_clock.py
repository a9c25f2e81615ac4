"""A market clock that several processes read from one file, for long simulated runs (SAMPLE_CLOCK).

The file says which market time it was at a time of the system clock, and how fast the market clock runs from
there. Who moves the clock replaces the file; every process follows at its next look. Tokens, leases and
heartbeats stay on the system clock. Only with simulated upstreams: real ones answer in real time.
"""

import json
import os
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from core.errors import InputError

MOST_RATE = 3600.0
VARIABLE = "SAMPLE_CLOCK"


@dataclass(frozen=True)
class Pace:
    """Market time `at` at `since` (seconds of the epoch); from there `rate` market seconds a second."""

    at: datetime
    since: float
    rate: float

    def now(self, system: float) -> datetime:
        return self.at + timedelta(seconds=max(0.0, system - self.since) * self.rate)


@dataclass
class SimulatedClock:
    """The market clock of the file at `path`. Raises InputError naming SAMPLE_CLOCK for a file that is absent
    or is no such clock."""

    path: Path
    frozen: bool = False
    _read: tuple[tuple[int, int], Pace] | None = field(default=None, repr=False)

    @property
    def pace(self) -> Pace:
        """As the file says now; read again only when it was replaced."""
        try:
            found = os.stat(self.path)
            version = (found.st_ino, found.st_mtime_ns)
            if self._read is None or self._read[0] != version:
                self._read = (version, _parsed(self.path))
        except FileNotFoundError:
            raise InputError(VARIABLE, f"there is no file {self.path}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(VARIABLE, f"{self.path} is no clock file ({error})") from None
        return self._read[1]

    def now(self) -> datetime:
        """Naive local exchange time."""
        return self.pace.now(time.time())

    def begin(self, at: datetime, rate: float = 1.0) -> None:
        """Write the file: it is `at` now. Raises InputError for a rate outside (0, 3600]."""
        if not 0 < rate <= MOST_RATE:
            raise InputError("rate", f"{rate:g} is not above 0 and at most {MOST_RATE:g}")
        content = {"at": at.isoformat(), "since": time.time(), "rate": rate}
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        aside.write_text(json.dumps(content), encoding="utf-8")
        aside.replace(self.path)

    def change(self, *, at: datetime | None = None, rate: float | None = None) -> datetime:
        """Set it to another time (`at`), or have it run at another rate from now on; returns the time that
        it goes on from. Raises InputError."""
        before = self.pace
        start = before.now(time.time()) if at is None else at
        self.begin(start, before.rate if rate is None else rate)
        return start


def _parsed(path: Path) -> Pace:
    stored = json.loads(path.read_text(encoding="utf-8"))
    pace = Pace(datetime.fromisoformat(stored["at"]), float(stored["since"]), float(stored["rate"]))
    if pace.at.tzinfo is not None:
        raise ValueError("`at` has a time zone; exchange time has none")
    if not 0 < pace.rate <= MOST_RATE:
        raise ValueError(f"`rate` {pace.rate:g} is not above 0 and at most {MOST_RATE:g}")
    return pace
