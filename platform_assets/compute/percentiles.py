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
    known = window[~np.isnan(window)]
    if np.isnan(values[at]) or len(known) < FEWEST:
        return float("nan")
    return float((known <= values[at]).mean() * 100)
