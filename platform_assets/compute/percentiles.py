"""Where a value stands among those before it."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
FEWEST = 250
"""Values below which nothing is said."""


def trailing_percentile(values: Floats, at: int, first: int) -> float:
    """Percent of the known values in [first, at] that are not above the one at `at`; NaN when that one is not
    known, or fewer than `FEWEST` are."""
    window = values[first : at + 1]
    if np.count_nonzero(~np.isnan(window)) < FEWEST:
        return float("nan")
    return _share_not_above(window)


def percentile_of_last(values: Floats) -> float | None:
    """Percent of the positive values that are not above the last one: a ratio of a loss says nothing. None
    where the last one is not positive."""
    share = _share_not_above(np.where(values > 0, values, np.nan))
    return None if np.isnan(share) else share


def _share_not_above(values: Floats) -> float:
    """Percent of the known values that are not above the last one; NaN where that one is not known."""
    if not values.size or np.isnan(values[-1]):
        return float("nan")
    return float((values[~np.isnan(values)] <= values[-1]).mean() * 100)
