"""The lines of a chart, computed from the candles that it draws: averages, Bollinger bands, MACD, KDJ, RSI.

Stored indicators have the price basis of their own date; over candles of another basis they would step at
every ex-date. Definitions: docs/calculations/indicators.md.
"""

import numpy as np

from core.arrays import Floats
from platform_assets.compute import series, studies

LINES = (
    "ma5", "ma10", "ma20", "ma60", "boll_upper", "boll_mid", "boll_lower",
    "macd_dif", "macd_dea", "macd_hist",
    "kdj_k", "kdj_d", "kdj_j", "rsi6", "rsi12", "rsi24",
)  # fmt: skip


def chart_lines(high: Floats, low: Floats, close: Floats) -> dict[str, Floats]:
    """Line -> a value for each bar, NaN where there are not enough bars. Prices [bars] of one basis, oldest
    first: CNY give CNY lines, KDJ and RSI are 0..100."""
    dif, dea = studies.macd(close, 12, 26)
    k, d = studies.kdj(high, low, close, 9)
    lines = (
        *(series.ma(close, n) for n in (5, 10, 20, 60)),
        *studies.bollinger(close, 20),
        dif, dea, 2 * (dif - dea),
        k, d, 3 * k - 2 * d,
        *(studies.rsi(close, n) for n in (6, 12, 24)),
    )  # fmt: skip
    return dict(zip(LINES, lines, strict=True))


def rounded(values: Floats, decimals: int = 4) -> list[float | None]:
    """For a document: NaN is null."""
    return [None if np.isnan(value) else round(value, decimals) for value in values.tolist()]
