"""The place of a moment within the sessions: the one module that derives from `now` what is visible."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from core.arrays import Ints
from simulated_market.world.intraday import COUNT, MINUTES

AUCTION = 9 * 60 + 15
OPEN = 9 * 60 + 25


@dataclass(frozen=True)
class Progress:
    """`day` = session shown by quotes at the moment (-1 = before the world). `opened` = it has an opening
    price (from 09:25). `minutes` = completed minutes 0..240."""

    day: int
    opened: bool
    minutes: int

    @property
    def complete(self) -> bool:
        return self.minutes == COUNT

    @property
    def bars(self) -> int:
        """Sessions that have a bar, the running one included."""
        return self.day + 1 if self.opened else self.day


def date_number(now: datetime) -> int:
    return now.year * 10_000 + now.month * 100 + now.day


def progress(now: datetime, dates: Ints) -> Progress:
    """Quotes switch to a session at 09:15 and keep its last state until the next one's 09:15."""
    today = date_number(now)
    at = int(np.searchsorted(dates, today))
    minute = now.hour * 60 + now.minute
    if at == len(dates) or int(dates[at]) != today or minute < AUCTION:
        return Progress(at - 1, True, COUNT) if at else Progress(-1, False, 0)
    return Progress(at, minute >= OPEN, int(np.searchsorted(MINUTES, minute, side="right")))


def moment(progress_: Progress, date: int, now: datetime) -> datetime:
    """Time stamp of a quote: `now` while the session runs, its 15:00 afterwards."""
    day = datetime(date // 10_000, date // 100 % 100, date % 100)
    if progress_.complete:
        return day.replace(hour=15)
    if progress_.minutes == COUNT // 2 and now.hour * 60 + now.minute < 13 * 60:
        return day.replace(hour=11, minute=30)
    return now.replace(microsecond=0)
