"""Consecutive limit-ups. Pure numpy."""

import numpy as np

from core.arrays import Floats


def limit_streaks(up: Floats, within: int) -> Floats:
    """[dates, codes] limit-ups in a row up to and including each date; 0 where the date itself is none.

    `up`: 1.0 where a code closed at its limit, NaN where it did not trade, else 0.0. A date without trade is
    passed over: the streak goes on where trade does. A date looks at `within` dates, itself the last of them,
    so that its streak does not depend on how far back the rows begin.
    """
    place = np.arange(len(up))[:, None]
    sealed = up == 1
    stopped = np.maximum.accumulate(np.where(sealed | np.isnan(up), -1, place), axis=0)
    before = np.maximum(stopped, place - within)
    summed = np.zeros((len(up) + 1, *up.shape[1:]))
    np.cumsum(sealed, axis=0, out=summed[1:])
    counted = summed[1:] - np.take_along_axis(summed, before + 1, axis=0)
    return np.where(sealed, counted, 0.0)
