"""The usual indicators in numpy, over arrays [..., bars] with NaN in front of a code's first bar: for
backtests, indices and trend strength, wherever no kernel may be compiled. Definitions are those of the stored
indicators (docs/calculations/indicators.md)."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats
from platform_assets.compute import series
from platform_assets.compute.parameters import indicators as p


@dataclass(frozen=True)
class Prices:
    """Adjusted prices and traded volume, [..., bars]."""

    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats


def macd(close: Floats, fast: int, slow: int) -> tuple[Floats, Floats]:
    """(dif, dea)."""
    dif = series.ema(close, fast) - series.ema(close, slow)
    return dif, series.ema(dif, p.MACD_SIGNAL)


def kdj(high: Floats, low: Floats, close: Floats, n: int) -> tuple[Floats, Floats]:
    """(K, D), both 50 before the first bar; the window grows over the first n - 1 bars; 50 without range."""
    there = np.isfinite(close)
    top, bottom = series.hhv(high, n), series.llv(low, n)
    top = np.where(np.isnan(top) & there, np.fmax.accumulate(high, axis=-1), top)
    bottom = np.where(np.isnan(bottom) & there, np.fmin.accumulate(low, axis=-1), bottom)
    span = top - bottom
    with np.errstate(invalid="ignore", divide="ignore"):
        rsv = np.where(span > 0, (close - bottom) / span * 100, np.where(there, 50.0, np.nan))
    k = series.sma(_seeded(rsv, 50.0), p.KDJ_SMOOTHING, 1)
    d = series.sma(k, p.KDJ_SMOOTHING, 1)
    return k[..., 1:], d[..., 1:]


def _seeded(values: Floats, seed: float) -> Floats:
    """One more bar in front, and `seed` on the bar before the first known one."""
    out = np.concatenate([np.full((*values.shape[:-1], 1), np.nan), values], axis=-1)
    known = np.isfinite(out)
    before = np.zeros(out.shape, dtype=bool)
    before[..., :-1] = known[..., 1:] & ~np.maximum.accumulate(known, axis=-1)[..., :-1]
    return np.where(before, seed, out)


def rsi(close: Floats, n: int) -> Floats:
    """0..100, of sums that begin at the second bar; NaN until there are `n` changes, 50 if nothing moved."""
    change = close - series.ref(close, 1)
    up, all_ = series.sma(np.maximum(change, 0.0), n, 1), series.sma(np.abs(change), n, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        reported = np.where(all_ == 0, 50.0, up / all_ * 100)
    return np.where(np.isfinite(series.ref(close, n)), reported, np.nan)


def bollinger(close: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """(upper, middle, lower), deviations of the sample."""
    middle = series.ma(close, n)
    width = p.BOLL_DEVIATIONS * series.std(close, n)
    return middle + width, middle, middle - width


def obv(close: Floats, volume: Floats) -> Floats:
    """On-balance volume from 0 at the first bar; a volume that is not known counts as none."""
    turn = np.sign(close - series.ref(close, 1))
    return np.cumsum(np.nan_to_num(turn * volume), axis=-1)


def atr_wilder(prices: Prices, n: int) -> Floats:
    """Smoothed true range; its first value, at bar n, is the mean of the ranges of the bars 1 to n."""
    before = series.ref(prices.close, 1)
    moves = np.abs(np.stack([prices.high - before, prices.low - before]))
    true_range = np.maximum(prices.high - prices.low, moves.max(axis=0))
    mean = series.ma(true_range, n)
    is_first = np.isfinite(mean) & np.isnan(series.ref(mean, 1))
    return series.dma(np.where(is_first, mean, np.where(np.isfinite(mean), true_range, np.nan)), 1 / n)
