"""Codes that closed at a price limit, counted date by date from bars. Pure numpy.

A window is [codes, dates]: consecutive trade dates, oldest first, NaN where a code has no bar. No price of a
date looks at a later one; which dates are loaded follows from the counts of bars on either side
(`known_dates`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arrays import Bools, Floats, Ints
from platform_assets.compute.day_limits import at_lower, at_upper, without_limit
from platform_assets.compute.loaded import known_dates
from platform_assets.compute.nan_arithmetic import divided
from platform_assets.compute.parameters.market_phase import STREAK_DAYS


@dataclass(frozen=True)
class LimitWindow:
    """Unadjusted prices and limits in CNY (NaN: no limit, or not known), `change_pct` percent, `volume`
    shares, `amount` CNY."""

    close: Floats
    high: Floats
    low: Floats
    limit_up: Floats
    limit_down: Floats
    change_pct: Floats
    volume: Floats
    amount: Floats

    @cached_property
    def traded(self) -> Bools:
        return self.volume > 0

    @cached_property
    def up(self) -> Bools:
        """Closed at the limit-up price."""
        return self.limited & at_upper(self.close, self.limit_up)

    @cached_property
    def down(self) -> Bools:
        return self.limited & at_lower(self.close, self.limit_down)

    @cached_property
    def limited(self) -> Bools:
        """Traded within limits: a price beyond them says that the day had none."""
        return self.traded & ~without_limit(self.high, self.low, self.limit_up, self.limit_down)

    @cached_property
    def broken(self) -> Bools:
        """Touched the limit-up price and did not hold it."""
        return self.limited & at_upper(self.high, self.limit_up) & ~self.up

    @cached_property
    def boards(self) -> Ints:
        """Consecutive limit-ups up to and including each date, of it and the `STREAK_DAYS` before; days
        without trade are passed over. A date that was never loaded is no rest: streaks end there."""
        sealed = np.where(self.traded, self.up, np.where(self.known, np.nan, 0.0))
        return limit_streaks(sealed.T, STREAK_DAYS + 1).T.astype(np.int64)

    @cached_property
    def known(self) -> Bools:
        """[dates] whose bars are those of the market, not of a few codes that were downloaded alone."""
        return known_dates(self.traded.sum(axis=0))

    @property
    def at_limit(self) -> Bools:
        """[codes, dates] that any of the counts may include."""
        return self.up | self.down | self.broken


@dataclass(frozen=True)
class LimitCounts:
    """One value per date. `all_*` count every stock, the others those that are not under special treatment.
    Where the market's bars are not stored every value is NaN."""

    all_up: Floats
    all_down: Floats
    all_broken: Floats
    up: Floats
    down: Floats
    broken: Floats
    max_boards: Floats
    """the longest streak; 0 where no stock is at the limit"""
    promotion_pct: Floats
    """percent of the limit-ups of the date before that are at the limit again; NaN where there were none"""
    prev_change_pct: Floats
    """mean change of the limit-ups of the date before, percent, of those that traded"""
    rose: Floats
    fell: Floats
    flat: Floats
    amount: Floats
    """turnover of all stocks, CNY"""


def count_limits(window: LimitWindow, special: Bools) -> LimitCounts:
    """`special`: [codes, dates] under special treatment (ST)."""
    known = window.known

    def counted(mask: Bools) -> Floats:
        return np.where(known, mask.sum(axis=0).astype(np.float64), np.nan)

    up, down, broken = (mask & ~special for mask in (window.up, window.down, window.broken))
    promotion = np.full(len(known), np.nan)
    after = np.full(len(known), np.nan)
    for at in range(1, len(known)):
        before = up[:, at - 1]
        if not (known[at] and known[at - 1] and before.any()):
            continue
        promotion[at] = (before & window.up[:, at]).sum() / before.sum() * 100
        change = window.change_pct[before & window.traded[:, at], at]
        change = change[~np.isnan(change)]
        if change.size:
            after[at] = change.mean()
    change = np.where(window.traded, window.change_pct, np.nan)
    return LimitCounts(
        all_up=counted(window.up),
        all_down=counted(window.down),
        all_broken=counted(window.broken),
        up=counted(up),
        down=counted(down),
        broken=counted(broken),
        max_boards=np.where(known, np.where(up, window.boards, 0).max(axis=0, initial=0), np.nan),
        promotion_pct=promotion,
        prev_change_pct=after,
        rose=counted(change > 0),
        fell=counted(change < 0),
        flat=counted(change == 0),
        amount=np.where(known, np.nansum(np.where(window.traded, window.amount, np.nan), axis=0), np.nan),
    )


def sealed_share(up: Floats, broken: Floats) -> Floats:
    """Percent of the touched limits that were held; NaN where none was touched."""
    return divided(up, up + broken) * 100


def limit_streaks(up: Floats, within: int) -> Floats:
    """[dates, codes] limit-ups in a row up to and including each date; 0 where the date itself is none.

    `up`: 1.0 where a code closed at its limit, NaN where it did not trade, else 0.0. A date without trade is
    passed over: the streak goes on where trade does. A date looks at `within` dates, itself the last of them,
    so that its streak does not depend on how far back the rows begin.
    """
    place = np.arange(len(up))[:, None]
    sealed = up == 1
    stopped = np.maximum.accumulate(np.where(sealed | np.isnan(up), -1, place), axis=0)
    before = np.maximum(stopped, place - within)
    summed = np.zeros((len(up) + 1, *up.shape[1:]))
    np.cumsum(sealed, axis=0, out=summed[1:])
    counted = summed[1:] - np.take_along_axis(summed, before + 1, axis=0)
    return np.where(sealed, counted, 0.0)
