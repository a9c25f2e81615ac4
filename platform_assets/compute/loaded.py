"""Which market dates are loaded. Pure."""

import numpy as np
import numpy.typing as npt

from platform_assets.compute.parameters.loading import LOADED_SHARE, NEIGHBOURS


def known_dates(counts: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """[dates] whether the market's bars of a date are loaded.

    `counts` [dates]: codes of the whole market that traded on consecutive market dates. A date is known when
    its count reaches `LOADED_SHARE` of the largest one within `NEIGHBOURS` dates on either side: a few codes
    that were downloaded alone are no market. Counts of later dates show what is stored, not prices.
    """
    held = np.asarray(counts, dtype=np.float64)
    if not len(held):
        return np.zeros(0, dtype=bool)
    padded = np.pad(held, NEIGHBOURS)
    largest = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1).max(axis=1)
    return np.asarray((held > 0) & (held >= LOADED_SHARE * largest), dtype=bool)
