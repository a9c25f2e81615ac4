"""Percentile and band of a ratio among those of the weeks before it. Pure numpy."""

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from platform_assets.compute.parameters import valuation_band as own
from platform_assets.compute.percentiles import percentile_of_last, positive


def percentiles(ratios: Floats, weeks: int) -> Floats:
    """[codes, weeks] -> per code the percent of the positive values of the last `weeks` that are not above
    the newest. NaN where the newest is not positive (a loss says nothing), or too few are."""
    window, enough = _window(ratios, weeks)
    return np.where(enough, percentile_of_last(window), np.nan)


def band(ratios: Floats, weeks: int) -> tuple[Floats, Floats]:
    """(low, high) of the positive values of the last `weeks`, at the percentiles of the parameters."""
    window, enough = _window(ratios, weeks)
    low, high = np.full(len(ratios), np.nan), np.full(len(ratios), np.nan)
    if enough.any():
        low[enough], high[enough] = np.nanpercentile(window[enough], (own.LOW_PCT, own.HIGH_PCT), axis=1)
    return low, high


def _window(ratios: Floats, weeks: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """(positive values of the last weeks, codes that have enough of them)."""
    window = positive(ratios[:, -weeks:])
    return window, (~np.isnan(window)).sum(axis=1) >= weeks * own.FEWEST_SHARE
