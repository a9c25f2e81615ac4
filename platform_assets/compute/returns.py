"""Returns and volatility over a window. Pure numpy."""

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
