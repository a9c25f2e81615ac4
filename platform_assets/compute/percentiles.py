"""Percentile of a value among those before it, and the band of a ratio over weeks. Pure numpy."""

import numpy as np

from core.arrays import Bools, Floats
from platform_assets.compute.parameters import valuation_band as own

FEWEST = 250
"""Values below which nothing is said."""


def trailing_percentile(values: Floats, at: int, first: int) -> float:
    """Percent of the known values in [first, at] that are not above the one at `at`; NaN when that one is not
    known, or fewer than `FEWEST` are."""
    window = values[first : at + 1]
    if np.count_nonzero(~np.isnan(window)) < FEWEST:
        return float("nan")
    return float(_share_not_above(window))


def percentile_of_last(values: Floats) -> Floats:
    """[..., values] -> [...]: percent of the positive values that are not above the last one; a ratio of a
    loss says nothing. NaN where the last one is not positive."""
    return _share_not_above(positive(values))


def positive(values: Floats) -> Floats:
    """NaN in the place of what is zero or less."""
    return np.where(values > 0, values, np.nan)


def _share_not_above(values: Floats) -> Floats:
    """Percent of the known values that are not above the last one; NaN where that one is not known."""
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    last = values[..., -1:]
    known = (~np.isnan(values)).sum(axis=-1)
    share = (values <= last).sum(axis=-1) / np.maximum(known, 1) * 100
    return np.where(np.isnan(last[..., 0]), np.nan, share)


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


def _window(ratios: Floats, weeks: int) -> tuple[Floats, Bools]:
    """(positive values of the last weeks, codes that have enough of them)."""
    window = positive(ratios[:, -weeks:])
    return window, (~np.isnan(window)).sum(axis=1) >= weeks * own.FEWEST_SHARE
