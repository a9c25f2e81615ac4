"""Stocks at a price limit on a date of a world, for the pools of two portals.

Everything follows from the world's own bars, limits, minutes and order book: a stock is in the pool of
limit-ups because its bar closes at its limit. Where a world has no minutes (real bars from files) the time of
the seal is unknown, and the pools are empty.
"""

import zlib
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from simulated_market.days import CLOSE, at
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.model import Bars, Minutes, Quote, Security

GAP = 3
"""Sessions without a board that a streak of 'N days M boards' may hold between two of them."""
STRONG_PCT = 7.0
_SESSIONS_60 = 60
_YEAR, _LOOKED_BACK = 250, 120
_DAYS_KEPT = 4
_AUCTION = 92_500
_CLOSE = 900


@dataclass(frozen=True)
class Seals:
    """HHMMSS of the first and the last time that the limit was sealed (0 = never), and how often it broke."""

    first: int
    last: int
    breaks: int


class LimitState:
    """One stock on one date that it traded on; prices 1e-4 CNY. `bars` end with that date."""

    def __init__(self, view: View, security: Security, quote: Quote, at: datetime) -> None:
        self._view = view
        self._at = at
        self.security = security
        self.quote = quote

    @property
    def name(self) -> str:
        return self.quote.name

    @property
    def up(self) -> bool:
        return self.quote.limit_up is not None and self.quote.price >= self.quote.limit_up

    @property
    def down(self) -> bool:
        return self.quote.limit_down is not None and self.quote.price <= self.quote.limit_down

    @property
    def broken(self) -> bool:
        """The limit was touched and not held."""
        return self.quote.limit_up is not None and self.quote.high >= self.quote.limit_up and not self.up

    @property
    def change_pct(self) -> float:
        return (self.quote.price / self.quote.preclose - 1) * 100 if self.quote.preclose else 0.0

    @cached_property
    def bars(self) -> Bars:
        return self._view.world.bars(self.security, self._at)

    @cached_property
    def minutes(self) -> Minutes | None:
        return self._view.world.minutes(self.security, self.quote.date, self._at)

    @cached_property
    def shares(self) -> tuple[int, int]:
        """(total, float)."""
        return self._view.world.shares(self.security, self._at)

    def _boards(self) -> list[tuple[bool, bool]]:
        """(sealed up, sealed down) of the traded sessions, newest first."""
        found = []
        for place in np.flatnonzero(self.bars.traded)[::-1][:_LOOKED_BACK].tolist():
            limits = self._view.world.limits(self.security, int(self.bars.date[place]))
            close = int(self.bars.close[place])
            found.append(
                (limits is not None and close >= limits[0], limits is not None and close <= limits[1])
            )
        return found

    @cached_property
    def boards(self) -> int:
        """Consecutive limit-ups up to and including the date."""
        return _leading([up for up, _ in self._boards()])

    @cached_property
    def downs(self) -> int:
        """Consecutive limit-downs up to and including the date."""
        return _leading([down for _, down in self._boards()])

    @cached_property
    def streak(self) -> tuple[int, int]:
        """(days, boards): from the first board of the streak to the date; (0, 0) where there was none."""
        days = boards = gap = 0
        for number, (up, _) in enumerate(self._boards(), start=1):
            gap = 0 if up else gap + 1
            if up:
                days, boards = number, boards + 1
            elif gap > GAP:
                break
        return days, boards

    @cached_property
    def success(self) -> float | None:
        """Share of the touched limit-ups of a year that were held."""
        bars, touched, held = self.bars, 0, 0
        for place in np.flatnonzero(bars.traded)[::-1][:_YEAR].tolist():
            limits = self._view.world.limits(self.security, int(bars.date[place]))
            if limits is not None and int(bars.high[place]) >= limits[0]:
                touched += 1
                held += int(bars.close[place]) >= limits[0]
        return held / touched if touched else None

    @property
    def is_high(self) -> bool:
        """The highest close of 60 sessions."""
        return int(self.bars.close[-1]) >= int(self.bars.close[-_SESSIONS_60:].max())

    @cached_property
    def seals(self) -> Seals:
        """Of the limit-up; where the stock closed at its limit-down, of that one."""
        limit = self.quote.limit_down if self.down else self.quote.limit_up
        if self.minutes is None or limit is None or not len(self.minutes.minute):
            return Seals(0, 0, 0)
        return _seals(self.minutes, limit, f"{self.security.symbol}{self.quote.date}")

    @cached_property
    def main_share(self) -> float:
        """Main net inflow of the date in percent of its amount; 0 where the world knows none."""
        flows = self._view.world.flows(self.security, self._at)
        if not flows or flows[-1].date != self.quote.date or not self.quote.amount:
            return 0.0
        flow = flows[-1]
        net = flow.super_large_in - flow.super_large_out + flow.large_in - flow.large_out
        return net / self.quote.amount * 100

    @property
    def queue(self) -> int:
        """Shares that wait at the limit."""
        side = self.quote.asks if self.down else self.quote.bids
        return side[0][1] if side and side[0][0] == self.quote.price else 0


def _leading(held: list[bool]) -> int:
    return next((number for number, one in enumerate(held) if not one), len(held))


def _seals(minutes: Minutes, limit: int, key: str) -> Seals:
    """From the price at the end of each minute; the second within a minute is drawn from the stock."""
    sealed = minutes.price == limit
    at_open = int(minutes.open[0]) == limit
    before = np.concatenate([[at_open], sealed[:-1]])
    starts = np.flatnonzero(sealed & ~before).tolist()
    breaks = int((before & ~sealed).sum())
    times = [_AUCTION] if at_open else []
    times += [clock_within(int(minutes.minute[at]), key) for at in starts]
    if not times:
        touched = np.flatnonzero(minutes.high >= limit)
        if not len(touched):
            return Seals(0, 0, 0)
        when = clock_within(int(minutes.minute[int(touched[0])]), key)  # within one minute there and back
        return Seals(when, when, 1)
    return Seals(times[0], times[-1], breaks)


def clock_within(minute: int, key: str) -> int:
    """HHMMSS within the minute that ends at `minute`; the closing auction is at 15:00:00."""
    if minute >= _CLOSE:
        return 150_000
    start = minute - 1
    return start // 60 * 10_000 + start % 60 * 100 + zlib.crc32(f"{key}{minute}".encode()) % 60


def session_end(view: View, day: int) -> datetime:
    """The last whole minute of a date that the view knows."""
    return min(view.now.replace(second=0, microsecond=0), at(day, CLOSE))


def newest_session(view: View) -> int:
    """The session that quotes show at the view's time; 0 before the world."""
    today = number_of(view.now)
    dates = view.world.trade_dates()
    at = int(np.searchsorted(dates, today, side="right")) - 1
    if at >= 0 and int(dates[at]) == today and view.now.hour * 60 + view.now.minute < 9 * 60 + 25:
        at -= 1  # nothing has a price yet
    return int(dates[at]) if at >= 0 else 0


def sessions_before(view: View, day: int) -> int | None:
    """How many sessions a date is before the newest one; None for no session, or one to come."""
    dates, newest = view.world.trade_dates(), newest_session(view)
    at = int(np.searchsorted(dates, day))
    if day > newest or at >= len(dates) or int(dates[at]) != day:
        return None
    return int(np.searchsorted(dates, newest)) - at


class LimitBook:
    """Stocks by date; a past date is remembered, since it does not change."""

    def __init__(self) -> None:
        self._memo: FactMemo[list[LimitState]] = FactMemo(_DAYS_KEPT)

    def of_date(self, view: View, day: int) -> list[LimitState]:
        """Every stock that traded on a date, by code; none before the world."""
        end = session_end(view, day)
        return self._memo.of(view, (day, end), lambda: _states(view, day, end))

    def pool(self, view: View, day: int, pool: str) -> list[LimitState]:
        """`up`, `broken`, `down` or `strong` on a date; those of which minutes are known."""
        chosen = {
            "up": lambda one: one.up,
            "broken": lambda one: one.broken,
            "down": lambda one: one.down,
            "strong": is_strong,
        }[pool]
        return [one for one in self.of_date(view, day) if chosen(one) and one.minutes is not None]

    def previous(self, view: View, day: int) -> list[tuple[LimitState, LimitState]]:
        """(state then, state on the date) of the limit-ups of the day before that trade on the date."""
        dates = view.world.trade_dates()
        at = int(np.searchsorted(dates, day))
        if at == 0:
            return []
        then = {one.security.symbol: one for one in self.pool(view, int(dates[at - 1]), "up")}
        return [
            (then[one.security.symbol], one) for one in self.of_date(view, day) if one.security.symbol in then
        ]


def _states(view: View, day: int, end: datetime) -> list[LimitState]:
    made = []
    for security in view.world.securities(end):
        quote = view.world.quote(security, end) if security.kind == "stock" else None
        if quote is not None and quote.date == day and not quote.suspended and quote.volume:
            made.append(LimitState(view, security, quote, end))
    return sorted(made, key=lambda one: one.security.code)


def is_strong(one: LimitState) -> bool:
    """At a high of 60 sessions after a large rise, or with several boards lately."""
    if one.change_pct < STRONG_PCT:
        return False
    return one.is_high or one.streak[1] >= 2
