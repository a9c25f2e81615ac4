"""When a trade date of a table is complete, and when its figures are out: what every load asks first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time

from core.calendar import COMPLETE, CalendarHorizon, TradeCalendar
from core.declaration.rules import FromHour, Partition, PublicAt
from core.declaration.scope import Calendar
from core.errors import InputError


@dataclass(frozen=True)
class Market:
    """A market, and the time of day in Shanghai from which the volume of its day is final."""

    name: str
    final: time


A_SHARES = Market("A shares", COMPLETE)
HONG_KONG = Market("Hong Kong", time(16, 10))


@dataclass(frozen=True)
class TradeDays:
    """What one table declares about its dates. `late`: trade dates after which the figures of a date are out
    at the latest; `optional`: a date may have no row by nature."""

    table: str
    partition: Partition
    market: Market
    public_at: PublicAt | None
    late: int
    optional: bool

    def unfinished(self, dates: Sequence[str], now: datetime) -> str | None:
        """Why a date cannot be loaded yet: its session goes on. None of a table that is not loaded by trade
        date (samples, notices and masters are of the session itself)."""
        today = now.date().isoformat()
        if self.partition is not Partition.TRADE_DATE or today not in dates:
            return None
        if now.time() >= self.market.final:
            return None
        return (
            f"{today} of {self.table} is complete from {self.market.final:%H:%M} on "
            f"({self.market.name}); it is {now:%H:%M}"
        )

    def refuse_unfinished(self, dates: Sequence[str], now: datetime, parameter: str = "date") -> None:
        """InputError for a date whose session goes on."""
        problem = self.unfinished(dates, now)
        if problem is not None:
            raise InputError(parameter, problem)

    def newest(self, now: datetime, calendar: TradeCalendar) -> str:
        """The newest trade date that can be loaded."""
        day = calendar.newest_complete(now)
        return day if self.unfinished((day,), now) is None else calendar.offset(day, -1)

    def not_out(self, day: str, now: datetime, calendar: Calendar) -> str | None:
        """Why a date has no row yet: its figures are published later. None once they must be there."""
        if isinstance(self.public_at, FromHour):
            try:
                moment = self.public_at.moment(day, calendar)[:16]
            except CalendarHorizon:
                return f"published after {calendar.horizon}, the last date of the calendar"
            if moment > f"{now:%Y-%m-%d %H:%M}":
                return f"published from {moment}"
        if self.late and not self.optional:
            today = now.date().isoformat()
            if day in calendar.last(self.late, today):
                return f"published up to {self.late} trade dates later"
        return None
