"""The days of one stock as a backtest sees them: every trade date, with a bar or without."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats, Ints

PER_MILLION = 1_000_000
_SAME_FACTOR = 1e-6


@dataclass(frozen=True)
class Days:
    """Arrays [trade dates], oldest first. Prices are CNY as traded, NaN on a day without a bar; a limit that
    is NaN is none."""

    date: tuple[str, ...]
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats
    factor: Floats
    """cumulative backward factor, known on every day"""
    limit_up: Floats
    limit_down: Floats
    cash: Ints
    """dividend of a share that goes ex on this bar, gross, in millionths of CNY"""
    bonus: Ints
    """shares that each share is given on this bar, in millionths; negative in a consolidation"""

    def __len__(self) -> int:
        return len(self.date)

    @cached_property
    def traded(self) -> Bools:
        return np.isfinite(self.open) & np.isfinite(self.close)

    @cached_property
    def bars(self) -> Ints:
        """Positions of the days with a bar."""
        return np.flatnonzero(self.traded)

    def adjusted(self, name: str) -> Floats:
        """[bars] a price column times the cumulative factor."""
        values: Floats = (getattr(self, name) * self.factor)[self.bars]
        return values

    def spread(self, values: npt.NDArray[Any], nothing: float) -> npt.NDArray[Any]:
        """[days] values of the bars [bars] on their days, `nothing` on a day without one."""
        out = np.full(len(self), nothing, dtype=values.dtype)
        out[self.bars] = values
        return out


@dataclass(frozen=True)
class Event:
    """An ex-right event: amounts per 10 shares, as the exchange announces them."""

    date: str
    cash_per10: float = 0.0
    bonus_per10: float = 0.0
    rights_per10: float = 0.0
    rights_price: float = 0.0


def entitlements(
    dates: Sequence[str], traded: Bools, factor: Floats, reference: Floats, events: Sequence[Event]
) -> tuple[Ints, Ints]:
    """(cash, bonus) of `Days`, each on the first bar at or after its ex-date.

    A right is worth reference price - subscription price and is counted as cash: a holder who does not
    subscribe and is not paid would lose that by the ex-date alone. A step of the factor that no event
    explains, or that a right without a reference price belongs to, is counted as bonus shares as a whole,
    which keeps the value of the holding. `reference`: ex-right reference prices in CNY, NaN where they are
    not known.
    """
    cash = np.zeros(len(dates), dtype=np.int64)
    bonus = np.zeros(len(dates), dtype=np.int64)
    places = np.flatnonzero(traded)
    days = [dates[place] for place in places.tolist()]
    explained = np.zeros(len(dates), dtype=bool)
    unvalued = np.zeros(len(dates), dtype=bool)
    for event in events:
        found = int(np.searchsorted(days, event.date)) if days else 0
        if found == 0 or found >= len(days):
            continue  # before the first bar no share is held
        at = int(places[found])
        explained[at] = True
        right = 0.0
        if event.rights_per10 > 0:
            unvalued[at] |= not np.isfinite(reference[at])
            right = max(float(np.nan_to_num(reference[at])) - event.rights_price, 0.0) * event.rights_per10
        cash[at] += round((event.cash_per10 + right) / 10 * PER_MILLION)
        bonus[at] += round(event.bonus_per10 / 10 * PER_MILLION)
    for before, at in zip(places[:-1].tolist(), places[1:].tolist(), strict=True):
        step = factor[at] / factor[before]
        if (unvalued[at] or not explained[at]) and abs(step - 1) > _SAME_FACTOR:
            # The step holds all that went ex on the bar: what was counted of it would be given twice.
            cash[at], bonus[at] = 0, round((step - 1) * PER_MILLION)
    return cash, bonus
