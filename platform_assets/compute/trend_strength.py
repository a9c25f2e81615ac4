"""Trend strength of one code by date, in numpy: what the API computes where no kernel may be compiled.

The same definition as the column `rtsi` of the indicators (docs/calculations/indicators.md).
"""

from typing import NamedTuple

import numpy as np

from core.arrays import Floats
from platform_assets.compute import series, studies
from platform_assets.compute.nan_arithmetic import weighted_mean
from platform_assets.compute.parameters.indicators import EQUAL, FLAT, RTSI_BARS, RTSI_LEVELS, RTSI_WEIGHTS


class Strength(NamedTuple):
    """[bars] each, NaN below 60 bars."""

    rtsi: Floats
    """0 to 100"""
    mean5: Floats
    """mean of the last five"""


def level_of(rtsi: float) -> str:
    """The name of the level that a value of 0 to 100 lies in."""
    return next(name for lowest, name in RTSI_LEVELS if rtsi >= lowest)


def trend_strength(high: Floats, low: Floats, close: Floats) -> Strength:
    """RTSI and its mean from adjusted prices, oldest first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = (
            _aligned(close),
            _regressed(close),
            _directed(high, low, close),
            studies.rsi(close, 14) / 100,
            _placed(high, low, close),
        )
        share, _ = weighted_mean(np.stack(parts), RTSI_WEIGHTS)
        # A value that rounding leaves beyond the bounds would have no level.
        rtsi = np.clip(100 * share, 0.0, 100.0)
    rtsi[: RTSI_BARS - 1] = np.nan
    return Strength(rtsi, series.ma(rtsi, 5))


def _aligned(close: Floats) -> Floats:
    short, ten, mid, long = (series.ma(close, n) for n in (5, 10, 20, 60))
    pairs = ((short, ten), (ten, mid), (mid, long), (close, mid), (mid, series.ref(mid, 5)))
    share: Floats = np.sum([one > other * (1 + EQUAL) for one, other in pairs], axis=0) / len(pairs)
    return np.where(np.isnan(long), np.nan, share)


def _regressed(close: Floats) -> Floats:
    logs, n = np.log(close), 20
    slope, spread = series.slope(logs, n), series.stdp(logs, n) ** 2
    fit = np.sign(slope) * slope**2 * (n * n - 1) / 12 / spread
    return (np.where(n * spread > FLAT, fit, np.where(np.isnan(spread), np.nan, 0.0)) + 1) / 2


def _directed(high: Floats, low: Floats, close: Floats) -> Floats:
    """PDI / (PDI + MDI): the range that both are divided by falls out."""
    up, down = high - series.ref(high, 1), series.ref(low, 1) - low
    noise = EQUAL * np.abs(high)
    plus = series.sum_(np.where((up > 0) & (up > down + noise), up, 0.0 * up), 14)
    minus = series.sum_(np.where((down > 0) & (down > up + noise), down, 0.0 * down), 14)
    return plus / (plus + minus)


def _placed(high: Floats, low: Floats, close: Floats) -> Floats:
    top, bottom = series.hhv(high, 60), series.llv(low, 60)
    return (close - bottom) / np.where(top > bottom, top - bottom, np.nan)
