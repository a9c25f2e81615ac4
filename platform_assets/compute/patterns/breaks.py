"""Shared by the kinds of patterns: the volume of a break, and how far two prices lie apart."""

from core.arrays import Floats
from platform_assets.compute.kernels import kernel


@kernel
def mean_of(values: Floats, start: int, stop: int) -> float:
    """Mean of values[start:stop], in the order of time: equal however long the series goes on."""
    total = 0.0
    for j in range(start, stop):
        total += values[j]
    return total / (stop - start)


@kernel
def has_volume(volume: Floats, t: int, bars: int, least: float) -> bool:
    """Whether bar t trades at least `least` times the mean of the `bars` before it."""
    mean = mean_of(volume, t - bars, t)
    return mean > 0.0 and volume[t] >= least * mean


@kernel
def apart(one: float, other: float) -> float:
    """larger / smaller - 1 of two prices of one sign."""
    one, other = abs(one), abs(other)
    return max(one, other) / min(one, other) - 1.0
