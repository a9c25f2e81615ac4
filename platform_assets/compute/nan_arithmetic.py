"""Arithmetic of what is known: NaN is missing, and is left out of a mean instead of being filled. Pure."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats


def floats(values: pd.Series) -> Floats:
    """[rows] a column of numbers, NaN where it is null."""
    numbers: Floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def divided(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where there is nothing to divide by."""
    found = np.full(np.shape(part), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def weighted_mean(parts: Floats, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
    """([n] mean of the known ones of `parts` [k, n], weighted with `weights` [k], NaN where none is known or
    weighs anything; [n] the weight that is known)."""
    given = np.asarray(weights, dtype=np.float64)[:, None]
    known = ~np.isnan(parts)
    weight = np.where(known, given, 0.0).sum(axis=0)
    total = np.where(known, parts * given, 0.0).sum(axis=0)
    return divided(total, weight), weight


def filled_factor(factor: Floats) -> Floats:
    """[bars] cumulative factors, oldest first: a gap takes the one before it, a leading gap the first known
    one; no factor at all is 1."""
    known = np.flatnonzero(np.isfinite(factor) & (factor > 0))
    if not len(known):
        return np.ones(len(factor))
    at = np.searchsorted(known, np.arange(len(factor)), side="right") - 1
    return factor[known[np.maximum(at, 0)]]


def average_ranks(values: Floats) -> tuple[Floats, int]:
    """([n] rank of each value from 1 on, ties at their mean, NaN where it is missing or not finite; how many
    are ranked). Pure numpy: what pandas' `rank()` gives."""
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
