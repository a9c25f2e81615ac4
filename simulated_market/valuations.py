"""Caps, earnings and payouts of the stocks of a world by trade date, and their sums over groups.

A ratio of a group is the sum of its caps over the sum of its earnings (or other denominator), losses
included. All values of a date follow from what was public on it, so a past date never changes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from core.arrays import Floats, Ints
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.fundamentals import ttm
from simulated_market.world.model import PRICE_UNIT, Report, Security

Figures = tuple[float, ...]
"""price, then the figures that `Totals` sums, in its order."""
_FIGURES = ("price", "cap", "float_cap", "earnings", "equity", "paid", "volume", "float_shares")
_CASH = 1
_WAN = 1e4
_MOST_DAYS = 300
_LOOKED_AT = 8


@dataclass(frozen=True)
class Line:
    """One stock by trade date; CNY and shares, NaN where nothing is known."""

    date: Ints
    price: Floats
    cap: Floats
    float_cap: Floats
    earnings: Floats
    equity: Floats
    paid: Floats
    volume: Floats
    float_shares: Floats


@dataclass(frozen=True)
class Totals:
    """Sums over the members of a group on one date, and what follows from them."""

    count: int
    cap: float
    float_cap: float
    earnings: float
    equity: float
    paid: float
    volume: float
    float_shares: float
    prices: tuple[float, ...]
    ratios: tuple[float, ...]
    """PE of each member that earns money."""

    @property
    def pe(self) -> float | None:
        return round(self.cap / self.earnings, 2) if self.earnings > 0 else None

    @property
    def pb(self) -> float | None:
        return round(self.cap / self.equity, 2) if self.equity > 0 else None

    @property
    def dividend_yield(self) -> float | None:
        return round(self.paid / self.cap * 100, 2) if self.cap > 0 else None


@dataclass
class Lines:
    """The lines of a world, remembered for a moment of it."""

    _held: FactMemo[dict[str, Line]] = field(default_factory=lambda: FactMemo(1))
    _days: FactMemo[dict[str, Figures | None]] = field(default_factory=lambda: FactMemo(_MOST_DAYS))

    def of(self, view: View, security: Security) -> Line:
        held = self._held.of(view, _moment(view.now), dict)
        if security.symbol not in held:
            held[security.symbol] = line_of(view, security)
        return held[security.symbol]

    def totals(self, view: View, members: Iterable[Security], day: int) -> Totals | None:
        """None where no member is known on the date."""
        figures = self._on(view, day)
        found = [known for known in (self._figures(view, figures, one, day) for one in members) if known]
        if not found:
            return None
        columns = zip(_FIGURES, zip(*found, strict=True), strict=True)
        sums = {name: math.fsum(x for x in some if not math.isnan(x)) for name, some in columns}
        prices, ratios = [one[0] for one in found], [one[1] / one[3] for one in found if one[3] > 0]
        del sums["price"]
        return Totals(count=len(found), prices=tuple(prices), ratios=tuple(ratios), **sums)

    def _on(self, view: View, day: int) -> dict[str, Figures | None]:
        """Figures of a date that are known already, by symbol; those of a closed date do not change."""
        return self._days.of(view, (view.now.toordinal() if view.now.hour < 15 else 0, day), dict)

    def _figures(
        self, view: View, known: dict[str, Figures | None], security: Security, day: int
    ) -> Figures | None:
        symbol = security.symbol
        if symbol not in known:
            line = self.of(view, security)
            at = int(np.searchsorted(line.date, day))
            there = at < len(line.date) and int(line.date[at]) == day and bool(line.cap[at] > 0)
            known[symbol] = tuple(float(getattr(line, name)[at]) for name in _FIGURES) if there else None
        return known[symbol]

    def pe_of_dates(self, view: View, members: Iterable[Security], dates: Ints) -> Floats:
        """PE of one group on many dates; NaN where it earns nothing."""
        caps, earned = np.zeros(len(dates)), np.zeros(len(dates))
        for one in members:
            line = self.of(view, one)
            if not len(line.date):
                continue
            at = np.searchsorted(line.date, dates).clip(max=len(line.date) - 1)
            known = (line.date[at] == dates) & ~np.isnan(line.earnings[at])
            caps[known] += line.cap[at][known]
            earned[known] += line.earnings[at][known]
        return np.where(earned > 0, np.round(caps / np.where(earned > 0, earned, 1.0), 2), np.nan)


def _moment(now: datetime) -> datetime:
    """The minute, or the close when that has passed."""
    minute = now.replace(second=0, microsecond=0)
    return minute.replace(hour=15, minute=0) if now.hour >= 15 else minute


def line_of(view: View, security: Security) -> Line:
    world = view.world
    bars = world.bars(security, view.now)
    total, floating = _shares(view, security, bars.date)
    price = bars.close / PRICE_UNIT
    known = list(world.reports(security, view.now))
    steps = np.asarray([one.published for one in known], dtype=np.int64)
    order = np.argsort(steps, kind="stable")
    return Line(
        date=bars.date,
        price=price,
        cap=price * total,
        float_cap=price * floating,
        earnings=_stepped(bars.date, steps[order], _earned(known, order)),
        equity=_stepped(bars.date, steps[order], [known[at].net_assets for at in order]),
        paid=_paid(view, security, bars.date) * total,
        volume=bars.volume.astype(float),
        float_shares=floating,
    )


def _earned(known: Sequence[Report], order: Ints) -> list[float]:
    """Trailing result that was known when each report came out, in the order in which they did."""
    published = np.asarray([one.published for one in known], dtype=np.int64)
    made = []
    for out in published[order].tolist():
        newest = int(np.flatnonzero(published <= out)[-1])
        # The trailing year looks back to the same quarter of the year before.
        near = known[max(newest - _LOOKED_AT, 0) : newest + 1]
        found = ttm([one for one in near if one.published <= out], "net_profit")
        made.append(np.nan if found is None else found)
    return made


def _stepped(dates: Ints, steps: Ints, values: Sequence[float]) -> Floats:
    """The value in force on each date; NaN before the first."""
    if not values:
        return np.full(len(dates), np.nan)
    at = np.searchsorted(steps, dates, side="right") - 1
    return np.where(at >= 0, np.asarray(values, dtype=float)[at.clip(min=0)], np.nan)


def _shares(view: View, security: Security, dates: Ints) -> tuple[Floats, Floats]:
    changes = [one for one in view.world.exrights(security, view.now) if one.category != _CASH]
    if not changes:
        total, floating = view.world.shares(security, view.now)
        return np.full(len(dates), float(total)), np.full(len(dates), float(floating))
    steps = np.asarray([one.date for one in changes], dtype=np.int64)
    first = changes[0].values
    made = []
    for before, after in ((1, 3), (0, 2)):
        values = [round(one.values[after] * _WAN) for one in changes]
        stepped = _stepped(dates, steps, values)
        made.append(np.where(np.isnan(stepped), round(first[before] * _WAN) or values[0], stepped))
    return made[0], made[1]


def _paid(view: View, security: Security, dates: Ints) -> Floats:
    """Cash per share of the ex-dates within the year up to each date."""
    paid = np.zeros(len(dates))
    for one in view.world.exrights(security, view.now):
        if one.category == _CASH and one.values[0] > 0:
            day = datetime.strptime(str(one.date), "%Y%m%d")
            until = int((day + timedelta(days=365)).strftime("%Y%m%d"))
            paid[(dates >= one.date) & (dates < until)] += one.values[0] / 10
    return paid
