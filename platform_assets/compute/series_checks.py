"""Is a value of a time series plausible against its own past? Pure."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from core.arrays import Bools, Floats

WINDOW = 24
MOST_DEVIATIONS = 8.0
MONTH_SHARES = (0.5, 2.0)
"""How many times its plain share one month may weigh in the mean of a year."""


def near_its_past(values: Floats, window: int = WINDOW, most: float = MOST_DEVIATIONS) -> Bools:
    """Whether each value of a series, oldest first, lies within `most` median absolute deviations of the
    median of the `window` values before it. True where there are not so many, or where these do not move
    at all (a rate that is constant for years)."""
    fine: Bools = np.ones(len(values), dtype=np.bool_)
    if len(values) <= window:
        return fine
    past = np.lib.stride_tricks.sliding_window_view(values, window)[:-1]
    middle = np.median(past, axis=1)
    spread = np.median(np.abs(past - middle[:, None]), axis=1)
    far = np.abs(values[window:] - middle) > most * spread
    fine[window:] = ~(far & (spread > 0))
    return fine


def mean_fits(
    value: float,
    months: Sequence[float | None],
    before: float | None,
    usual: tuple[float, float] | None,
    slack: float,
) -> bool:
    """Whether `value` may be the mean of the year up to now, of which `months` are the single figures from
    January on (None: not known) and `before` is the mean up to the month before.

    Either the plain mean of all months within `slack` (what rounding hides), or `before` moved towards the
    newest month by half to twice the share of one month: months weigh differently. A month or a mean
    that is not known is replaced by the range of `usual` figures; True where there is none of these."""
    reported = [one for one in months if one is not None]
    if len(reported) == len(months) and abs(value - sum(reported) / len(reported)) <= slack:
        return True
    newest = months[-1]
    ends = usual if newest is None else (newest, newest)
    if ends is None:
        return True
    if before is None:
        around = ends if usual is None else (*ends, *usual)
        return min(around) - slack <= value <= max(around) + slack
    weights = [share / len(months) for share in MONTH_SHARES]
    reached = [before + weight * (end - before) for weight in weights for end in ends]
    return min(reached) - slack <= value <= max(reached) + slack


def months_between(days: Sequence[str]) -> list[int]:
    """Months from each ISO date to the next, one number less than dates."""
    places = [int(day[:4]) * 12 + int(day[5:7]) for day in days]
    return [after - before for before, after in pairwise(places)]
