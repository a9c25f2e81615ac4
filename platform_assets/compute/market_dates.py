"""Finds dates whose rows cannot be right for the market as a whole. Pure.

A day that was saved while it was still trading has closes that are none: the next day's previous closes
differ from them, and ex-rights that are derived from the difference are hundreds. In real events (1990 to
2011, 2020 to 2025) no date had an ex-right of more than 7 percent of the market. Since 2000 one session
had less than 0.42 of the median turnover of the 20 before it (2016-01-07, which was broken off), and none
had more than 12 times as much.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

FEW = 20
"""So many codes are never the market as a whole."""
MOST_EX = 0.2
"""Share of the market that may have an ex-right on one date."""
MOST_BREAKS = 0.2
"""Share of the market whose previous close may differ from the stored close."""
TURNOVER_DAYS = 20
LEAST_TURNOVER, MOST_TURNOVER = 0.4, 12.0
"""Of a session, against the median of the days before it."""
_HALF_FEN = 0.0051


def crowded_dates(events: pd.DataFrame, market: int) -> set[str]:
    """Dates with an ex-right of too many codes. `events`: code, date of category 1; `market`: how many codes
    there are."""
    counts = events.drop_duplicates(["code", "date"]).groupby("date").size()
    return {str(day) for day in counts.index[(counts >= FEW) & (counts > MOST_EX * market)]}


def unusual_turnover(amounts: pd.Series, known: pd.Series) -> dict[str, float]:
    """Date -> its turnover / the median of the 20 dates before it, where that cannot be. `amounts` of the
    dates to check, `known` of dates before them, both by date in CNY."""
    sums = pd.concat([known, amounts]).sort_index()
    median = sums.rolling(TURNOVER_DAYS, min_periods=TURNOVER_DAYS).median().shift()
    ratio = (sums / median).reindex(amounts.index)
    odd = ratio[(ratio < LEAST_TURNOVER) | (ratio > MOST_TURNOVER)]
    return {str(day): float(value) for day, value in odd.items()}


def contradicted(close: npt.NDArray[np.float64], following: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Closes that the next session's previous closes contradict, where that is so of too many of them; NaN
    where there is nothing to compare (an ex-right, no bar)."""
    with np.errstate(invalid="ignore"):
        breaks: npt.NDArray[np.bool_] = np.abs(close - following) >= _HALF_FEN
    compared = int(np.isfinite(close - following).sum())
    if breaks.sum() < FEW or breaks.sum() <= MOST_BREAKS * compared:
        return np.zeros(len(breaks), dtype=bool)
    return breaks
