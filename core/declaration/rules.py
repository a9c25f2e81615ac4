"""The vocabulary for how a dataset is checked, fused, dated and stored: freshness, soft checks, fusion,
validity."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pandas as pd

from core.declaration.scope import Calendar, Context
from core.report_periods import public_from

RowCheck = Callable[[pd.DataFrame, Context], pd.Series]
"""(fused rows, context) -> boolean Series, True = fine; null passes."""
TableCheck = Callable[[pd.DataFrame, Context], str | None]
"""(fused rows of one partition, context) -> what is wrong, or None."""
Derive = Callable[[pd.DataFrame, Context], pd.DataFrame]
Stage = Callable[[pd.DataFrame, Context], pd.DataFrame]
"""(RAW rows of one feed, context) -> rows of the staging table (its columns plus `src`)."""
PublicAt = Callable[[pd.DataFrame, Context], pd.Series]
Repairs = Callable[[pd.DataFrame, Context], Mapping[tuple[str, str], Sequence[str]]]
"""(written rows, context) -> (first, last trade date) that stored rows of these codes are wrong of."""
LaterRows = Callable[[pd.DataFrame, Context], pd.Series]


class Partition(StrEnum):
    """How a dataset is cut in time. EVENT_DATE: rows have a calendar day (of a notice, of a change) and are
    written under the first trade date on or after it; a load by codes brings all that is known of them.
    REPORT_PERIOD: rows have a quarter end and are written period by period; a load for trade dates concerns
    the periods that are being disclosed then (`compute.report_periods`), one by codes all of theirs.
    CODE: the whole past of each code; a load of trade dates is about the codes that its download wrote."""

    TRADE_DATE = "trade_date"
    EVENT_DATE = "event_date"
    REPORT_PERIOD = "report_period"
    SNAPSHOT = "snapshot"
    CODE = "code"

    @property
    def by_date(self) -> bool:
        """Whether it is loaded trade date by trade date."""
        return self in (Partition.TRADE_DATE, Partition.EVENT_DATE)


def as_received(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Staging of a feed that has the columns of the staging table: its rows unchanged."""
    return rows


@dataclass(frozen=True)
class Freshness:
    """kind trading: `max_lag` trade dates; calendar: days; period: days after a report period's end.
    Compared is the newest `column`, or `confirmed_at` (the last successful batch)."""

    kind: str
    max_lag: int
    column: str


def trading(max_lag: int, column: str = "date") -> Freshness:
    return Freshness("trading", max_lag, column)


def calendar_days(max_lag: int, column: str = "confirmed_at") -> Freshness:
    return Freshness("calendar", max_lag, column)


def period(max_lag: int, column: str = "report_period") -> Freshness:
    return Freshness("period", max_lag, column)


class _Named:
    """A rule that goes by the name of its function."""

    check: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.check.__name__


@dataclass(frozen=True)
class Soft(_Named):
    """A check that never rejects: the row gets quality 'warning' and the check's name as a flag. `holds`: a
    failing row is held back, no other value is adjusted by it."""

    check: RowCheck
    message: str = ""
    holds: bool = False


@dataclass(frozen=True)
class Contract(_Named):
    """A check of what the sources answered, before fusion, with stored tables at hand. A failing row is
    rejected; when more than a few rows of one source fail, all rows of that source are rejected."""

    check: RowCheck
    message: str = ""


@dataclass(frozen=True)
class Whole(_Named):
    """A soft check of a whole partition (coverage, row counts): one quality record, no row changed."""

    check: TableCheck


@dataclass(frozen=True)
class Needed:
    """Columns that have no value where a trade date is missing among the newest `dates` of a table by trade
    date: up to that of the row, or to the one `before` it. Without `columns` the row is marked only, and its
    history begins with the first date that is loaded."""

    table: str
    columns: tuple[str, ...] = ()
    dates: int = 1
    before: bool = False

    def window(self, calendar: Calendar, day: str) -> list[str]:
        """The trade dates that a row of `day` needs, oldest first."""
        return calendar.last(self.dates, calendar.offset(day, -1) if self.before else day)


@dataclass(frozen=True)
class Rows:
    """Row-level fusion: the first source with a valid row wins the whole row. `finer` names columns that
    a later source may sharpen: its value is taken when it equals the winner's within `finer[column]`
    (the winner's wire rounding, a function of its rows; null where its own value is the finer one), so
    nothing is mixed, only rounded less. `fills` names columns that a later source may give where the
    winner's wire has none; the row's provenance says so. `earliest` and `longest` name columns of which the
    smallest value, or the longest text, of all sources is taken (one article in several papers)."""

    finer: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = field(default_factory=dict)
    finer_source: str = ""
    fills: tuple[str, ...] = ()
    earliest: tuple[str, ...] = ()
    longest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fields:
    """Field-level fusion: per column the first source with a valid value. `order` overrides the source
    order of single columns; `tolerance` is the relative difference beyond which two sources conflict. `finer`
    names columns of which a later source has more decimals, and half the last decimal of the others: its
    value is taken where it rounds to theirs; where it does not, theirs stays."""

    order: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    finer: Mapping[str, tuple[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class FromHour:
    """Public at `hour` (HH:MM) of the row's own date, or of so many trade dates `later`; a row without a date
    when its batch is written."""

    column: str
    hour: str
    later: int = 0

    def __call__(self, rows: pd.DataFrame, context: Context) -> pd.Series:
        days = rows[self.column].astype(object)
        moments = {day: self.moment(str(day), context.calendar) for day in days.dropna().unique()}
        return days.map(moments).astype(object).where(days.notna(), None)

    def moment(self, day: str, calendar: Calendar) -> str:
        """When the rows of a date are public."""
        return f"{calendar.offset(day, self.later) if self.later else day} {self.hour}:00.000000"


def at_hour(column: str, hour: str) -> FromHour:
    """Public at `hour` (HH:MM) of the row's own date."""
    return FromHour(column, hour)


def at_time(column: str, otherwise_on: str | None = None) -> PublicAt:
    """Public at the row's own time; without one from the beginning of the date `otherwise_on`, else when its
    batch is written."""

    def at_its_time(rows: pd.DataFrame, context: Context) -> pd.Series:
        times = rows[column].astype(object).where(rows[column].notna(), None)
        precise = times.map(lambda text: f"{text}.000000" if text is not None and "." not in text else text)
        if otherwise_on is None:
            return precise
        return precise.where(precise.notna(), on_date(otherwise_on)(rows, context))

    return at_its_time


def close_of(column: str) -> PublicAt:
    """A bar is public at 15:00 of its date."""
    return at_hour(column, "15:00")


def on_date(column: str, after: str | None = None) -> PublicAt:
    """A notice is public from the beginning of its date. `after`: the column of the day that it reports on;
    one that is dated before it is public from the day after it."""
    beginning = at_hour(column, "00:00")
    if after is None:
        return beginning

    def of_possible(rows: pd.DataFrame, context: Context) -> pd.Series:
        return beginning(rows.assign(**{column: public_from(rows[column], rows[after])}), context)

    return of_possible


def next_trade_date(column: str, hour: str) -> FromHour:
    """Figures of a date that are public at `hour` (HH:MM) of the trade date after."""
    return FromHour(column, hour, later=1)
