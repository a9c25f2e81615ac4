"""Arithmetic of calendar days as ISO text, and which market dates are loaded. Pure."""

from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from platform_assets.compute.parameters.loading import LOADED_SHARE, NEIGHBOURS


def moved(day: str, days: int) -> str:
    """The day so many calendar days later (earlier where `days` is negative)."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def monday_of(day: str) -> str:
    """The Monday of the day's week."""
    return moved(day, -date.fromisoformat(day).weekday())


def known_dates(counts: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """[dates] whether the market's bars of a date are loaded.

    `counts` [dates]: codes of the whole market that traded on consecutive market dates. A date is known when
    its count reaches `LOADED_SHARE` of the largest one within `NEIGHBOURS` dates on either side: a few codes
    that were downloaded alone are no market. Later counts tell what is stored, nothing of prices.
    """
    held = np.asarray(counts, dtype=np.float64)
    if not len(held):
        return np.zeros(0, dtype=bool)
    padded = np.pad(held, NEIGHBOURS)
    largest = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1).max(axis=1)
    return np.asarray((held > 0) & (held >= LOADED_SHARE * largest), dtype=bool)
