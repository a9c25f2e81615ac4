"""Parts of the tactic score of a market on one date, from windows of its newest dates."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.parameters.scorecards import HEALTH_BARS
from platform_assets.compute.scorecards.boards import pattern_score, signal_conditions, signal_score
from platform_assets.compute.volume_price import Prices, analyse

INDICATORS = ("rtsi", "close", "macd_hist", "kdj_k", "kdj_d", "boll_mid", "vol_ma5", "ma20")
"""Columns of `calc_indicator_daily` that the score looks at, in prices of their own date."""


def newest_and_before(values: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Reduces [codes, dates] to (value on the last date, the newest one before it in prices of the last
    date).

    `scale` [codes, dates] is the cumulative factor: an ex-right day between the two is taken out.
    """
    before, scales = values[:, :-1], scale[:, :-1]
    known = np.isfinite(before) & np.isfinite(scales)
    if not before.shape[1]:
        return values[:, -1], np.full(len(values), np.nan)
    place = before.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    row = np.arange(len(values))
    found = np.where(known.any(axis=1), before[row, place] * scales[row, place] / scale[:, -1], np.nan)
    return values[:, -1], found


def parts_of(
    indicators: Mapping[str, Floats], volume: Floats, factor: Floats, directions: Floats
) -> dict[str, Floats]:
    """rtsi, pattern and signal, 0..100 [codes]; NaN where not known.

    `indicators` are [codes, dates] by the names of `INDICATORS`; `volume` [codes] is that of the last date,
    `factor` [codes, dates] the cumulative one, `directions` [codes] the sum of the pattern directions (+1, -1
    each) of the newest bars, NaN where patterns were not looked for.
    """
    hist, hist_before = newest_and_before(indicators["macd_hist"], factor)
    ma20, ma20_before = newest_and_before(indicators["ma20"], factor)
    conditions = signal_conditions(
        volume=volume,
        macd_hist=hist,
        macd_hist_before=hist_before,
        ma20=ma20,
        ma20_before=ma20_before,
        **{name: indicators[name][:, -1] for name in ("close", "kdj_k", "kdj_d", "boll_mid", "vol_ma5")},
    )
    return {
        "rtsi": indicators["rtsi"][:, -1],
        "pattern": pattern_score(directions),
        "signal": signal_score(conditions),
    }


def patterns_looked_for(dates: Iterable[str], day: str) -> bool:
    """Whether patterns were looked for on a date: `dates` are those on which the market has a pattern. Where
    no code has one on the date itself the pattern score is missing, not neutral."""
    return any(one == day for one in dates)


def health_of(bars: Bars, codes: Sequence[str]) -> Floats:
    """[codes] health of price and volume at the newest bar, 0..100, from the last `HEALTH_BARS` bars; NaN
    where a code has none, or too few."""
    health = np.full(len(codes), np.nan)
    for at, code in enumerate(codes):
        if code not in bars.place:
            continue
        own = bars.rows_of(code)
        rows = slice(max(own.start, own.stop - HEALTH_BARS), own.stop)
        scale = bars.factor[rows] / bars.factor[own.stop - 1]
        high, low, close = (column[rows] * scale for column in (bars.high, bars.low, bars.close))
        found = analyse(Prices(high, low, close, bars.volume[rows], bars.amount[rows]))
        health[at] = np.nan if found.health is None else found.health
    return health
