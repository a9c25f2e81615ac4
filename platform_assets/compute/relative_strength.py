"""How stocks did against an index, and against each other."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.asof import index_close
from platform_assets.compute.nan_arithmetic import weighted_mean
from platform_assets.compute.parameters.volume_price import CHANGE_BARS, MANSFIELD_BARS, RATING_WEIGHTS


@dataclass(frozen=True)
class RelativeStrength:
    """[codes] each, NaN where bars or closes of the index are missing."""

    codes: tuple[str, ...]
    change_pct: dict[int, Floats]
    """window in bars -> change of the adjusted close"""
    excess_pct: dict[int, Floats]
    """window in bars -> (stock / stock then) / (index / index then) - 1"""
    rating: Floats
    """1 (weakest) to 99 among all codes"""
    mansfield_pct: Floats
    """price in units of the index against its mean of 50 bars"""


def relative_strength(bars: Bars, index: tuple[Ints, Floats], day: int) -> RelativeStrength:
    """Relative strength of the codes that traded on `day` (yyyymmdd), from bars that end with it or later.
    `index`: dates, ascending, and closes."""
    bars = bars.until(day)
    if len(bars):
        traded = bars.date[bars.last_rows] == day
        bars = bars.where(traded[bars.owner])
    close = bars.adjusted("close")
    last = bars.last_rows
    held = np.diff(bars.offsets)

    def then(values: Floats, back: int) -> Floats:
        """The value of `back` bars before the newest, per code."""
        return np.where(held > back, values[np.where(held > back, last - back, last)], np.nan)

    changes = {n: close[last] / then(close, n) - 1 for n in {*CHANGE_BARS, *RATING_WEIGHTS}}
    in_index = close / index_close(bars, index)
    ratios = np.array([then(in_index, back) for back in range(MANSFIELD_BARS)])
    return RelativeStrength(
        codes=bars.codes,
        change_pct={n: 100 * changes[n] for n in CHANGE_BARS},
        excess_pct={n: 100 * (then(in_index, 0) / then(in_index, n) - 1) for n in CHANGE_BARS},
        rating=rating({n: changes[n] for n in RATING_WEIGHTS}),
        mansfield_pct=100 * (ratios[0] / ratios.mean(axis=0) - 1) if len(last) else np.zeros(0),
    )


def rating(changes: dict[int, Floats]) -> Floats:
    """1 to 99: place among all codes of the weighted change over a quarter to a year. A change that is not
    known is left out and the other weights grow; a code without any has no rating."""
    stacked = np.array([changes[n] for n in RATING_WEIGHTS])
    score, _ = weighted_mean(
        np.where(np.isfinite(stacked), stacked, np.nan), np.array(list(RATING_WEIGHTS.values()))
    )
    known = np.sort(score[np.isfinite(score)])
    if len(known) < 2:
        return np.where(np.isfinite(score), 50.0, np.nan)
    below, upto = np.searchsorted(known, score, "left"), np.searchsorted(known, score, "right")
    share = (below + upto - 1) / 2 / (len(known) - 1)
    return np.where(np.isfinite(score), np.round(1 + 98 * share), np.nan)
