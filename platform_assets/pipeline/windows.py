"""Which stored rows a scope is about, and under which trade date or report period each is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from core.declaration.rules import Partition
from core.declaration.scope import Calendar, Scope
from core.declaration.tables import Table
from core.report_periods import open_on_any
from resources.warehouse.slices import Slice

_NEVER = "9999"


@dataclass(frozen=True)
class Window:
    """The part of one table that a scope covers.

    By trade date: the scope's dates. By event date: the calendar days that its trade dates cover; by
    report period: the periods that are being disclosed on one of its trade dates. Of both, when the scope
    names codes, all that is known of them. Otherwise: its codes, else the whole table.

    `timed`: the date column holds times of day. `loose`: the day is not part of the key, so that one key may
    turn up on two days (a headline of a code, printed again); the row of the first is kept.
    """

    partition: Partition
    date_column: str | None
    scope: Scope
    calendar: Calendar
    timed: bool = False
    loose: bool = False

    @classmethod
    def of(cls, table: Table, partition: Partition, scope: Scope, calendar: Calendar) -> "Window":
        """The part of `table` that a scope covers."""
        day = table.date_column
        loose = partition is Partition.EVENT_DATE and day not in (None, *table.key) and "code" in table.key
        return cls(partition, day, scope, calendar, table.timed, loose)

    @property
    def dated(self) -> bool:
        """Whether days limit this window at all."""
        if self.date_column is None:
            return False
        if self.partition in (Partition.EVENT_DATE, Partition.REPORT_PERIOD):
            return self.scope.codes is None
        return self.partition is Partition.TRADE_DATE

    @property
    def cut(self) -> bool:
        """Whether rows are written part by part, each under a day of its own: report periods also are when
        codes are named."""
        return self.dated or (self.partition is Partition.REPORT_PERIOD and self.date_column is not None)

    @property
    def periods(self) -> tuple[str, ...]:
        """The report periods that are open on the scope's dates, oldest first."""
        return open_on_any(self.scope.dates)

    def slice(self) -> Slice:
        """The stored rows of the window."""
        if not self.dated:
            return Slice(codes=self.scope.codes)
        since, until = self._days()
        last = f"{until} 23:59:59" if self.timed else until
        return Slice(date_column=self.date_column, since=since, until=last, codes=self.scope.codes)

    def slice_of(self, key: str, codes: Sequence[str]) -> Slice:
        """The stored rows with which those of one trade date (or report period) are compared. Of a loose
        table also later ones of the same `codes`: the new rows may be earlier reports of the same keys."""
        if self.partition is Partition.REPORT_PERIOD:
            return Slice.of_date(str(self.date_column), key, self.scope.codes)
        closed = self.scope.closed_until if key == self.scope.until else None
        own = replace(self, scope=Scope((key,), self.scope.codes, closed_until=closed))
        if not self.loose:
            return own.slice()
        return Slice(date_column=self.date_column, since=own._days()[0], codes=tuple(sorted(set(codes))))

    def repeats(self, days: pd.Series, reported: pd.Series) -> pd.Series:
        """Which rows of a loose table repeat a key that was `reported` (null: never) on an earlier day:
        before a dated window, else before the row's own."""
        first = self._days()[0] if self.dated else days.fillna("")
        return reported.fillna(_NEVER) < first

    def contains(self, days: pd.Series) -> pd.Series:
        """Which days lie in a dated window."""
        if self.partition is Partition.TRADE_DATE:
            return days.isin(list(self.scope.dates))
        if self.partition is Partition.REPORT_PERIOD:
            return days.isin(list(self.periods))
        since, until = self._days()
        days = self._on(days)
        return (days >= since).fillna(False) & (days <= until).fillna(False)

    def keys(self, days: pd.Series) -> pd.Series:
        """The trade date (or report period) under which a row of each day is written. Of events only those
        in the window: an upstream's page of notices may reach beyond it."""
        if self.partition is Partition.TRADE_DATE:
            return days
        if self.partition is Partition.REPORT_PERIOD:
            return days[self.contains(days)].reindex(days.index) if self.dated else days
        inside = self._on(days[self.contains(days)])
        newest = self.scope.until if self.scope.closed_until else _NEVER
        owner = {day: min(self.calendar.on_or_after(day), newest) for day in inside.unique()}
        return inside.map(owner).reindex(days.index)

    def _days(self) -> tuple[str, str]:
        """First and last day of a dated window."""
        if self.partition is Partition.EVENT_DATE:
            return self.scope.event_days(self.calendar)
        if self.partition is Partition.REPORT_PERIOD:
            return self.periods[0], self.periods[-1]
        return self.scope.since, self.scope.until

    def _on(self, days: pd.Series) -> pd.Series:
        """The calendar days of times."""
        return days.str[:10] if self.timed and len(days) else days
