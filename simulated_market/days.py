"""Days of a world from which other facts than bars are derived."""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Bars, Security

CLOSE = "15:00"


def at(day: int, hour: str) -> datetime:
    """`hour` (HH:MM) of a day."""
    return datetime.strptime(f"{day} {hour}", "%Y%m%d %H:%M")


def is_out(view: View, day: int, hour: str) -> bool:
    """Whether `hour` of a trade date has passed at the view's time; never for a day without trading."""
    dates = view.world.trade_dates()
    place = int(np.searchsorted(dates, day))
    return place < len(dates) and int(dates[place]) == day and at(day, hour) <= view.now


def dates_between(view: View, since: int, until: int, hour: str) -> list[int]:
    """Trade dates of which `hour` has passed, oldest first."""
    dates = [int(day) for day in view.world.trade_dates() if since <= day <= until]
    return [day for day in dates if at(day, hour) <= view.now]


@dataclass(frozen=True)
class DayBar:
    """One date within the bars of a security."""

    bars: Bars
    place: int

    @property
    def close(self) -> float:
        return int(self.bars.close[self.place]) / PRICE_UNIT

    @property
    def amount(self) -> float:
        return float(self.bars.amount[self.place])

    @property
    def change_pct(self) -> float:
        """Percent against the reference price."""
        return (int(self.bars.close[self.place]) / int(self.bars.preclose[self.place]) - 1) * 100

    @property
    def amplitude_pct(self) -> float:
        bars, place = self.bars, self.place
        return int(bars.high[place] - bars.low[place]) / int(bars.preclose[place]) * 100

    @property
    def turnover_pct(self) -> float:
        """0 where the world knows none."""
        return float(np.nan_to_num(self.bars.turnover_pct[self.place]))

    def before(self, steps: int) -> "DayBar | None":
        """The bar `steps` sessions earlier, when the security traded on all of them."""
        first = self.place - steps
        if first < 0 or not bool(self.bars.traded[first : self.place + 1].all()):
            return None
        return DayBar(self.bars, first)

    def change_after(self, steps: int, now: datetime) -> float | None:
        """Percent from this close to that of `steps` sessions later, ex-rights taken out; None before that
        session has closed."""
        last = self.place + steps
        if last >= len(self.bars) or at(int(self.bars.date[last]), CLOSE) > now:
            return None
        span = slice(self.place + 1, last + 1)
        ratios = self.bars.close[span] / self.bars.preclose[span]
        return round((float(np.prod(ratios)) - 1) * 100, 6)


def day_bar(view: View, security: Security, day: int) -> DayBar | None:
    """A date on which the security traded, within the bars up to the view's time."""
    return _within(view.world.bars(security, view.now), day)


@dataclass
class Shelf:
    """Cached bars of a day: those of a closed day do not change. Later bars may be missing."""

    _held: dict[tuple[int, str], Bars] = field(default_factory=dict)

    def day_bar(self, view: View, security: Security, day: int) -> DayBar | None:
        # A world under a fault exists for one answer: its false facts must not be cached.
        if view.fault is not None:
            return day_bar(view, security, day)
        key = (id(view.world), security.symbol)
        bars = self._held.get(key)
        if bars is None or not len(bars) or int(bars.date[-1]) < day:
            bars = self._held[key] = view.world.bars(security, view.now)
        return _within(bars, day)


def _within(bars: Bars, day: int) -> DayBar | None:
    place = int(np.searchsorted(bars.date, day))
    if place >= len(bars) or int(bars.date[place]) != day:
        return None
    if not bool(bars.traded[place]) or int(bars.preclose[place]) <= 0:
        return None
    return DayBar(bars, place)
