"""Is a value of a time series plausible beside its own past? Pure."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

WINDOW = 24
MOST_DEVIATIONS = 8.0

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def near_its_past(values: Floats, window: int = WINDOW, most: float = MOST_DEVIATIONS) -> Bools:
    """Whether each value of a series, oldest first, lies within `most` median absolute deviations of the
    median of the `window` values before it. True where there are not so many, or where these do not move
    at all (a rate that stands for years)."""
    fine: Bools = np.ones(len(values), dtype=np.bool_)
    if len(values) <= window:
        return fine
    past = np.lib.stride_tricks.sliding_window_view(values, window)[:-1]
    middle = np.median(past, axis=1)
    spread = np.median(np.abs(past - middle[:, None]), axis=1)
    far = np.abs(values[window:] - middle) > most * spread
    fine[window:] = ~(far & (spread > 0))
    return fine


def months_between(days: Sequence[str]) -> list[int]:
    """Months from each ISO date to the next, one number less than dates."""
    places = [int(day[:4]) * 12 + int(day[5:7]) for day in days]
    return [after - before for before, after in pairwise(places)]
