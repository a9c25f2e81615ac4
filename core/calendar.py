"""The exchange's trade dates: a shipped table of those that are published, and provisional ones after them.

What follows the last published day is calculated from the rules of the holidays and may be corrected when the
arrangement of the year comes: `is_confirmed` distinguishes them. Before the first and after the last date the
answer is 'unknown' (`CalendarHorizon`).
"""

import csv
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from importlib import resources as files

from core import data
from core.errors import PlatformError
from core.market.holidays import LAST_YEAR, provisional_dates


class CalendarHorizon(PlatformError):
    """The calendar does not reach this date."""


COMPLETE = time(15, 30)
"""Time of day from which the session of the day can be loaded."""


@dataclass(frozen=True)
class Days:
    """The content of a calendar: its trade dates, and the last day up to which all days are published."""

    dates: list[str]
    known: frozenset[str]
    confirmed_until: str


def _made_days(dates: Iterable[str], confirmed_until: str | None) -> Days:
    ordered = sorted(set(dates))
    if not ordered:
        raise PlatformError("a trade calendar needs at least one date")
    return Days(ordered, frozenset(ordered), confirmed_until or ordered[-1])


class TradeCalendar:
    """Trade dates of one market as ISO text, ascending.

    Dates go in and out as `YYYY-MM-DD` text, because that is what both engines, partitions and
    responses hold; conversion happens at the border.
    """

    def __init__(self, dates: Iterable[str], confirmed_until: str | None = None) -> None:
        """`confirmed_until`: the last published day; all of them by default."""
        self._content = _made_days(dates, confirmed_until)

    @classmethod
    def of(cls, content: Days) -> "TradeCalendar":
        """A calendar of days that are ordered already."""
        made = TradeCalendar.__new__(TradeCalendar)
        made._content = content
        return made

    @property
    def _days(self) -> Days:
        return self._content

    @property
    def content(self) -> Days:
        """All of it, as it is now."""
        return self._days

    @property
    def _dates(self) -> list[str]:
        return self._days.dates

    @property
    def dates(self) -> list[str]:
        return list(self._dates)

    @property
    def first(self) -> str:
        return self._dates[0]

    @property
    def horizon(self) -> str:
        """The last date that is known or, by the rules of the holidays, expected to be a trade date."""
        return self._dates[-1]

    @property
    def confirmed_until(self) -> str:
        """The last day up to which every day is published by the exchange; the rest is provisional."""
        return self._days.confirmed_until

    def is_confirmed(self, day: str) -> bool:
        """Whether the exchange has published what this day is."""
        return day <= self.confirmed_until

    def days_left(self, today: str) -> int:
        """Calendar days until the last published one; the alarm is raised below 30."""
        return (date.fromisoformat(self.confirmed_until) - date.fromisoformat(today)).days

    def corrected(self, open_days: Mapping[str, bool], confirmed_until: str) -> "TradeCalendar":
        """This calendar with what is known of single days in place of its own."""
        kept = {day for day in self._dates if open_days.get(day, True)}
        opened = {day for day, is_open in open_days.items() if is_open}
        return TradeCalendar(kept | opened, confirmed_until)

    def is_trade_date(self, day: str) -> bool:
        days = self._days
        if day > days.dates[-1] and day > days.confirmed_until:
            raise CalendarHorizon(f"the trade calendar ends on {days.dates[-1]}; {day} is unknown")
        return day in days.known

    def on_or_before(self, day: str) -> str:
        """The newest trade date that is not after `day`."""
        if day > self.horizon and day > self.confirmed_until:
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


SHIPPED_UNTIL = "2026-12-31"
"""The last day of the shipped table: the year whose arrangement was published when it was made."""


@cache
def published_dates() -> tuple[str, ...]:
    """The mainland exchanges' trade dates that come with the project (1990-12-19..2026-12-31)."""
    text = files.files(data).joinpath("trade_dates_cn.csv").read_text(encoding="utf-8")
    return tuple(row["trade_date"] for row in csv.DictReader(text.splitlines()))


@cache
def shipped_calendar() -> TradeCalendar:
    """The trade dates that come with the project, and provisional ones to the end of 2099. A running platform
    has learnt more: `resources.stored_calendar`."""
    first = date.fromisoformat(SHIPPED_UNTIL) + timedelta(days=1)
    coming = provisional_dates(first, date(LAST_YEAR, 12, 31))
    return TradeCalendar((*published_dates(), *coming), SHIPPED_UNTIL)
