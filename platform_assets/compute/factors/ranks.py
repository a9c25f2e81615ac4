"""Ranks of values within a batch, ties at their mean. Pure numpy: what pandas' `rank()` gives."""

import numpy as np

from core.arrays import Floats


def average_ranks(values: Floats) -> tuple[Floats, int]:
    """([n] rank of each value from 1 on, NaN where it is missing or not finite; how many are ranked)."""
    known = np.isfinite(values)
    found = values[known]
    ranks = np.full(len(values), np.nan)
    if not found.size:
        return ranks, 0
    order = np.argsort(found, kind="stable")
    ordered = found[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], found.size)
    within = np.empty(found.size)
    within[order] = ((starts + 1 + ends) / 2)[np.cumsum(first) - 1]
    ranks[known] = within
    return ranks, int(found.size)
