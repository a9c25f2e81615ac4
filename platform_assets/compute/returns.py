"""Returns and volatility over a window, and where a value stands among others. Pure numpy."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float64]


class Rolling(NamedTuple):
    """Per close: change over the window, percent; deviation of its daily changes (ddof 1), percent. NaN
    until the window is full."""

    change_pct: Row
    volatility_pct: Row


def rolling(closes: Row, window: int) -> Rolling:
    """`closes`: adjusted, oldest first, without gaps; `window`: sessions, at least 2."""
    change = np.full(closes.shape, np.nan)
    spread = np.full(closes.shape, np.nan)
    if closes.size > window:
        change[window:] = (closes[window:] / closes[:-window] - 1) * 100
        daily = (closes[1:] / closes[:-1] - 1) * 100
        parts = np.lib.stride_tricks.sliding_window_view(daily, window)
        spread[window:] = parts.std(axis=1, ddof=1)
    return Rolling(change, spread)


def percentile_of_last(values: Row) -> float | None:
    """Share of the values that are not above the last one, percent. Only positive values count: a ratio of
    a loss says nothing. None where the last one is not positive."""
    if not values.size or not values[-1] > 0:
        return None
    known = values[values > 0]
    return float(np.count_nonzero(known <= values[-1]) / known.size * 100)
