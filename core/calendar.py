"""The exchange's trade dates: a shipped table with a horizon.

Beyond the last known date the answer is 'unknown' (`CalendarHorizon`), never a guess from week days.
"""

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from functools import cache
from importlib import resources as files

from core.errors import PlatformError


class CalendarHorizon(PlatformError):
    """The calendar does not reach this date."""


COMPLETE = time(15, 30)
"""Time of day from which the session of the day can be loaded."""


class TradeCalendar:
    """Trade dates of one market as ISO text, ascending.

    Dates go in and out as `YYYY-MM-DD` text, because that is what both engines, partitions and
    responses hold; conversion happens at the border.
    """

    def __init__(self, dates: Iterable[str]) -> None:
        self._dates = sorted(set(dates))
        if not self._dates:
            raise PlatformError("a trade calendar needs at least one date")
        self._known = frozenset(self._dates)

    @property
    def dates(self) -> list[str]:
        return list(self._dates)

    @property
    def first(self) -> str:
        return self._dates[0]

    @property
    def horizon(self) -> str:
        """The last date that is known to be a trade date."""
        return self._dates[-1]

    def days_left(self, today: str) -> int:
        """Calendar days until the horizon; the alarm is raised below 30."""
        return (date.fromisoformat(self.horizon) - date.fromisoformat(today)).days

    def is_trade_date(self, day: str) -> bool:
        if day > self.horizon:
            raise CalendarHorizon(f"the trade calendar ends on {self.horizon}; {day} is unknown")
        return day in self._known

    def on_or_before(self, day: str) -> str:
        """The newest trade date that is not after `day`."""
        if day > self.horizon:
            raise CalendarHorizon(f"the trade calendar ends on {self.horizon}; {day} is unknown")
        at = bisect_right(self._dates, day)
        if at == 0:
            raise CalendarHorizon(f"the trade calendar starts on {self.first}; {day} is before it")
        return self._dates[at - 1]

    def on_or_after(self, day: str) -> str:
        at = bisect_left(self._dates, day)
        if at == len(self._dates):
            raise CalendarHorizon(f"the trade calendar ends on {self.horizon}; nothing is known after {day}")
        return self._dates[at]

    def offset(self, day: str, steps: int) -> str:
        """The trade date `steps` trade dates after (before, when negative) the trade date `day`."""
        at = bisect_left(self._dates, day)
        if at == len(self._dates) or self._dates[at] != day:
            raise PlatformError(f"{day} is no trade date")
        target = at + steps
        if not 0 <= target < len(self._dates):
            raise CalendarHorizon(f"{steps} trade dates from {day} are outside {self.first}..{self.horizon}")
        return self._dates[target]

    def between(self, start: str, end: str) -> list[str]:
        """Trade dates in [start, end], ascending."""
        return self._dates[bisect_left(self._dates, start) : bisect_right(self._dates, end)]

    def closed(self, start: str, end: str) -> list[str]:
        """Days in [start, end] that are no trade dates, ascending."""
        first, last = date.fromisoformat(start), date.fromisoformat(end)
        days = ((first + timedelta(days=step)).isoformat() for step in range((last - first).days + 1))
        return [day for day in days if not self.is_trade_date(day)]

    def last(self, count: int, end: str) -> list[str]:
        """The newest `count` trade dates that are not after `end`, ascending."""
        at = bisect_right(self._dates, end)
        return self._dates[max(0, at - count) : at]

    def newest_complete(self, now: datetime) -> str:
        """The newest trade date whose session can be loaded at market time `now`."""
        today = now.date().isoformat()
        if self.is_trade_date(today) and now.time() < COMPLETE:
            today = (now.date() - timedelta(days=1)).isoformat()
        return self.on_or_before(today)


FIRST_PARTITION = "2016-08-01"
"""The first trade date that the platform loads and calculates."""


@cache
def shipped_calendar() -> TradeCalendar:
    """The mainland exchanges' trade dates that come with the project (1990-12-19..2026-12-31)."""
    text = files.files("core").joinpath("data/trade_dates_cn.csv").read_text(encoding="utf-8")
    return TradeCalendar(row["trade_date"] for row in csv.DictReader(text.splitlines()))
