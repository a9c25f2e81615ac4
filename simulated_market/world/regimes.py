"""Market days that are written down instead of drawn: crashes with their rebound, and rally weeks."""

import numpy as np

from core.arrays import Ints
from simulated_market.world.engine import Regime

# Dates of the sample alone; no real day is copied. One crash in about 400 sessions, one rally in three years.
CRASHES = (20170710, 20180417, 20200310, 20220419, 20230822, 20250616)
RALLIES = (20170911, 20200713, 20230306, 20260309)
_WEEK = (0.021, 0.028, 0.018, 0.034, 0.092)


def scripted(days: Ints) -> Regime:
    """The written days that fall into these sessions."""
    inside = [d for d in CRASHES if days[0] < d <= days[-2]]
    crash = [int(np.searchsorted(days, d)) for d in inside]
    rally: dict[int, float] = {}
    for date in RALLIES:
        if days[0] < date <= days[-6]:
            start = int(np.searchsorted(days, date))
            rally.update({start + k: mean for k, mean in enumerate(_WEEK)})
    return Regime(frozenset(crash), frozenset(d + 1 for d in crash), rally)
