"""Which stored rows a scope is about, and under which trade date each of them is written."""

from dataclasses import dataclass

import pandas as pd

from platform_assets.declaration.rules import Partition
from platform_assets.declaration.scope import Calendar, Scope
from resources.warehouse.slices import Slice


@dataclass(frozen=True)
class Window:
    """The part of one table that a scope stands for.

    By trade date: the scope's dates. By event date: the calendar days that its trade dates stand for, or,
    when the scope names codes, all that is known of them. Otherwise: its codes, else the whole table.
    """

    partition: Partition
    date_column: str | None
    scope: Scope
    calendar: Calendar

    @property
    def dated(self) -> bool:
        """Whether days limit this window at all."""
        if self.date_column is None:
            return False
        if self.partition is Partition.EVENT_DATE:
            return self.scope.codes is None
        return self.partition is Partition.TRADE_DATE

    def slice(self) -> Slice:
        """The stored rows of the window."""
        if not self.dated:
            return Slice(codes=self.scope.codes)
        since, until = self.scope.since, self.scope.until
        if self.partition is Partition.EVENT_DATE:
            since, until = self.scope.event_days(self.calendar)
        return Slice(date_column=self.date_column, since=since, until=until, codes=self.scope.codes)

    def contains(self, days: pd.Series) -> pd.Series:
        """Which days lie in a dated window."""
        if self.partition is Partition.TRADE_DATE:
            return days.isin(list(self.scope.dates))
        since, until = self.scope.event_days(self.calendar)
        return (days >= since).fillna(False) & (days <= until).fillna(False)

    def trade_dates(self, days: pd.Series) -> pd.Series:
        """The trade date under which a row of each day is written. Of events only those in the window: an
        upstream's page of notices may reach beyond it."""
        if self.partition is Partition.TRADE_DATE:
            return days
        inside = days[self.contains(days)]
        return inside.map({day: self.calendar.on_or_after(day) for day in inside.unique()}).reindex(
            days.index
        )
