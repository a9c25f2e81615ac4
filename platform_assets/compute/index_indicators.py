"""Indicators of index bars, numpy alone: what the API computes when it is asked.

Conventions are those of the terminals, as in the indicators of stocks: MACD's bar counts twice, KDJ begins at
50, the band of BOLL is the sample deviation, RSI is smoothed from the second bar on.
"""

import numpy as np

from platform_assets.compute.series import Floats, ema, hhv, llv, ma, sma, std

MEANS = (5, 10, 20, 60)
WARM_UP = 320
"""Bars before the first one shown: what is left of where the recursions began is below 1e-3 then."""
_KDJ = 9
_RSI = 14
_BOLL = 20


def index_indicators(high: Floats, low: Floats, close: Floats) -> dict[str, Floats]:
    """[bars] oldest first -> ma5, ma10, ma20, ma60, dif, dea, macd, boll_upper, boll_mid, boll_lower (points)
    and k, d, j, rsi14 (0..100, j beyond). NaN where there are not enough bars."""
    dif = ema(close, 12) - ema(close, 26)
    dea = ema(dif, 9)
    k, d = _stochastic(high, low, close)
    mid, spread = ma(close, _BOLL), 2 * std(close, _BOLL)
    return {
        **{f"ma{count}": ma(close, count) for count in MEANS},
        "dif": dif,
        "dea": dea,
        "macd": 2 * (dif - dea),
        "k": k,
        "d": d,
        "j": 3 * k - 2 * d,
        "boll_upper": mid + spread,
        "boll_mid": mid,
        "boll_lower": mid - spread,
        "rsi14": _strength(close),
    }


def _stochastic(high: Floats, low: Floats, close: Floats) -> tuple[Floats, Floats]:
    """(K, D); the first bars look at those that there are, and K and D were 50 before them."""
    top, bottom = hhv(high, _KDJ), llv(low, _KDJ)
    first = min(_KDJ - 1, len(close))
    top[:first] = np.maximum.accumulate(high[:first])
    bottom[:first] = np.minimum.accumulate(low[:first])
    width = top - bottom
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = np.where(width == 0, 50.0, (close - bottom) / width * 100)

    def smoothed(values: Floats) -> Floats:
        return sma(np.concatenate([[50.0], values]), 3, 1)[1:]

    k = smoothed(raw)
    return k, smoothed(k)


def _strength(close: Floats) -> Floats:
    change = np.concatenate([[np.nan], np.diff(close)])[: len(close)]
    rise, move = sma(np.maximum(change, 0), _RSI, 1), sma(np.abs(change), _RSI, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(move == 0, 50.0, rise / move * 100)
