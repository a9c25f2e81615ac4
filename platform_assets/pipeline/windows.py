"""Which stored rows a scope is about, and under which trade date or report period each is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from platform_assets.compute.report_periods import open_on_any
from platform_assets.declaration.dataset import Dataset
from platform_assets.declaration.rules import Partition
from platform_assets.declaration.scope import Calendar, Scope
from platform_assets.pipeline.run import PipelineRun
from resources.warehouse.slices import Slice


@dataclass(frozen=True)
class Window:
    """The part of one table that a scope stands for.

    By trade date: the scope's dates. By event date: the calendar days that its trade dates stand for; by
    report period: the periods that are being disclosed on one of its trade dates. Of both, when the scope
    names codes, all that is known of them. Otherwise: its codes, else the whole table.
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
        since, until = self.scope.since, self.scope.until
        if self.partition is Partition.EVENT_DATE:
            since, until = self.scope.event_days(self.calendar)
        if self.partition is Partition.REPORT_PERIOD:
            since, until = self.periods[0], self.periods[-1]
        return Slice(date_column=self.date_column, since=since, until=until, codes=self.scope.codes)

    def slice_of(self, key: str) -> Slice:
        """The stored rows that are written under one trade date or report period."""
        if self.partition is Partition.REPORT_PERIOD:
            return Slice.of_date(str(self.date_column), key, self.scope.codes)
        return replace(self, scope=Scope((key,), self.scope.codes)).slice()

    def contains(self, days: pd.Series) -> pd.Series:
        """Which days lie in a dated window."""
        if self.partition is Partition.TRADE_DATE:
            return days.isin(list(self.scope.dates))
        if self.partition is Partition.REPORT_PERIOD:
            return days.isin(list(self.periods))
        since, until = self.scope.event_days(self.calendar)
        return (days >= since).fillna(False) & (days <= until).fillna(False)

    def keys(self, days: pd.Series) -> pd.Series:
        """The trade date (or report period) under which a row of each day is written. Of events only those
        in the window: an upstream's page of notices may reach beyond it."""
        if self.partition is Partition.TRADE_DATE:
            return days
        if self.partition is Partition.REPORT_PERIOD:
            return days[self.contains(days)].reindex(days.index) if self.dated else days
        inside = days[self.contains(days)]
        return inside.map({day: self.calendar.on_or_after(day) for day in inside.unique()}).reindex(
            days.index
        )


def written_codes(run: PipelineRun, dataset: Dataset, scope: Scope, tables: Sequence[str]) -> Scope:
    """A staged dataset by code goes on with the codes that the loads of the scope's dates wrote in `tables`:
    the scope, limited to those. A scope of codes, or of another dataset, stays as it is."""
    if dataset.partition is not Partition.CODE or dataset.dimension or scope.codes is not None:
        return scope
    found: set[str] = set()
    for table in tables:
        rows = run.warehouse.query(
            f"SELECT DISTINCT code FROM {run.warehouse.sql.name(table)} WHERE batch_id IN (SELECT batch_id "
            "FROM sys_batch WHERE table_name=? AND partition_key>=? AND partition_key<=?)",
            (table, scope.since, scope.until),
        )
        found |= {str(code) for (code,) in rows}
    return replace(scope, codes=tuple(sorted(found)))
