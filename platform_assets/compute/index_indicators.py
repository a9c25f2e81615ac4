"""Indicators of index bars, numpy alone: what the API computes when it is asked."""

from core.arrays import Floats
from platform_assets.compute import studies
from platform_assets.compute.series import ma

MEANS = (5, 10, 20, 60)
_MACD = (12, 26)
_KDJ = 9
_RSI = 14
_BOLL = 20


def index_indicators(high: Floats, low: Floats, close: Floats) -> dict[str, Floats]:
    """[bars] oldest first -> ma5, ma10, ma20, ma60, dif, dea, macd, boll_upper, boll_mid, boll_lower (points)
    and k, d, j, rsi14 (0..100, j beyond). NaN where there are not enough bars."""
    dif, dea = studies.macd(close, *_MACD)
    k, d = studies.kdj(high, low, close, _KDJ)
    upper, mid, lower = studies.bollinger(close, _BOLL)
    return {
        **{f"ma{count}": ma(close, count) for count in MEANS},
        "dif": dif,
        "dea": dea,
        "macd": 2 * (dif - dea),
        "k": k,
        "d": d,
        "j": 3 * k - 2 * d,
        "boll_upper": upper,
        "boll_mid": mid,
        "boll_lower": lower,
        "rsi14": studies.rsi(close, _RSI),
    }
