"""Primitives of terminal-style formulas over float arrays [..., bars], time along the last axis.

NaN in front means "not listed yet". A result is NaN where a window is not full or holds a NaN, so nothing is
computed from fewer bars than asked for. Conditions are bool arrays, or float arrays with 1 true, 0 false and
NaN unknown. Windows combine blocks of doubling length: a value depends on the bars of its own window and on
nothing else, equal prices have a mean that equals them and a deviation of exactly 0, and a window of 250
bars costs 8 passes. Recursions loop over bars, never over codes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute import three_valued
from platform_assets.compute.three_valued import compared

Mask = npt.NDArray[np.bool_]
Condition = Mask | Floats


def block(bars: Bars, name: str, *, adjusted: bool = False) -> Floats:
    """[codes, bars] of one column, each code's newest bar in the last column, NaN in front of its first.

    `adjusted`: a price column times the cumulative factor.
    """
    counts = np.diff(bars.offsets)
    width = int(counts.max(initial=0))
    out = np.full((len(bars.codes), width), np.nan)
    ends = bars.offsets[1:][bars.owner]
    out[bars.owner, width - ends + np.arange(len(bars))] = (
        bars.adjusted(name) if adjusted else getattr(bars, name)
    )
    return out


def blocks(bars: Bars, *names: str, adjusted: bool = False) -> dict[str, Floats]:
    """Several columns as `block` gives them."""
    return {name: block(bars, name, adjusted=adjusted) for name in names}


def newest(held: Floats, bars: int) -> Floats:
    """The last `bars` bars of a block, NaN in front where it has fewer."""
    width = held.shape[-1]
    if width >= bars:
        return held[..., width - bars :]
    front = np.full((*held.shape[:-1], bars - width), np.nan)
    return np.concatenate([front, held], axis=-1)


# Shifts and conditions


def ref(x: npt.ArrayLike, n: int) -> Floats:
    """The value n >= 0 bars before."""
    values = _floats(x)
    if n == 0:
        return values.copy()
    out = np.full(values.shape, np.nan)
    if n < values.shape[-1]:
        out[..., n:] = values[..., :-n]
    return out


def truth(condition: Condition) -> Mask:
    """True where a condition is known and holds."""
    if condition.dtype == np.bool_:
        return np.asarray(condition, dtype=np.bool_)
    held: Mask = (condition != 0) & ~np.isnan(condition)
    return held


def cross(a: npt.ArrayLike, b: npt.ArrayLike) -> Mask:
    """a > b, and not so on the bar before; false where any of the four is not known."""
    left, right = np.broadcast_arrays(_floats(a), _floats(b))
    return (left > right) & (ref(left, 1) <= ref(right, 1))


def longcross(a: npt.ArrayLike, b: npt.ArrayLike, n: int) -> Mask:
    """a > b after n bars in a row with a < b."""
    left, right = np.broadcast_arrays(_floats(a), _floats(b))
    below = truth(ref(every(compared("<", left, right), n), 1))
    return (left > right) & below


# Windows


def sum_(x: npt.ArrayLike, n: int) -> Floats:
    found: Floats = _windowed(_floats(x), n, lambda new, old, _n, _o: new + old)
    return found


def ma(x: npt.ArrayLike, n: int) -> Floats:
    """Simple mean of n bars."""
    found: Floats = _windowed(_floats(x), n, _mean)
    return found


def hhv(x: npt.ArrayLike, n: int) -> Floats:
    """Highest of n bars, the current one included."""
    found: Floats = _windowed(_floats(x), n, lambda new, old, _n, _o: np.maximum(new, old))
    return found


def llv(x: npt.ArrayLike, n: int) -> Floats:
    """Lowest of n bars."""
    return -hhv(-_floats(x), n)


def hhvbars(x: npt.ArrayLike, n: int) -> Floats:
    """Bars since the highest of n bars; of equal ones the newest."""
    values = _floats(x)
    start = (values, np.where(np.isnan(values), np.nan, 0.0))
    ages: Floats = _windowed(start, n, _newer_highest)[1]
    return ages


def llvbars(x: npt.ArrayLike, n: int) -> Floats:
    """Bars since the lowest of n bars; of equal ones the newest."""
    return hhvbars(-_floats(x), n)


def std(x: npt.ArrayLike, n: int) -> Floats:
    """Sample deviation (ddof 1) of n >= 2 bars, as terminals' STD."""
    if n < 2:
        return np.full(_floats(x).shape, np.nan)
    return np.sqrt(_moments(_floats(x), n)[1] / (n - 1))


def stdp(x: npt.ArrayLike, n: int) -> Floats:
    """Population deviation (ddof 0)."""
    return np.sqrt(_moments(_floats(x), n)[1] / n)


def slope(x: npt.ArrayLike, n: int) -> Floats:
    """Slope per bar of the least-squares line through n >= 2 bars."""
    if n < 2:
        return np.full(_floats(x).shape, np.nan)
    return _moments(_floats(x), n)[2] / (n * (n * n - 1) / 12)


def avedev(x: npt.ArrayLike, n: int) -> Floats:
    """Mean distance from the mean of the same n bars."""
    values = _floats(x)
    mean = ma(values, n)
    total = np.zeros(values.shape)
    for back in range(n):
        total += np.abs(ref(values, back) - mean)
    return total / n


def wma(x: npt.ArrayLike, n: int) -> Floats:
    """Mean with weights n for the newest bar down to 1 for the oldest."""
    mean, _, along = _moments(_floats(x), n)
    return mean + along * (2 / (n * (n + 1)))


def count(condition: Condition, n: int) -> Floats:
    """Bars of the last n on which a condition holds."""
    return sum_(three_valued.condition(condition), n)


def every(condition: Condition, n: int) -> Floats:
    """1 where a condition holds on each of the last n bars, else 0."""
    return llv(three_valued.condition(condition), n)


def exist(condition: Condition, n: int) -> Floats:
    """1 where a condition holds on any of the last n bars, else 0."""
    return hhv(three_valued.condition(condition), n)


# Recursions


def ema(x: npt.ArrayLike, n: int) -> Floats:
    """y = y' + 2 / (n + 1) * (x - y'), from the first known x on."""
    return dma(x, 2 / (n + 1))


def sma(x: npt.ArrayLike, n: int, m: int) -> Floats:
    """y = (m * x + (n - m) * y') / n, from the first known x on."""
    return dma(x, m / n)


def dma(x: npt.ArrayLike, weight: npt.ArrayLike) -> Floats:
    """y = y' + weight * (x - y'), from the first known x on; `weight` is a number or an array like x.

    On a bar without x or weight there is no value; the next one goes on from the last.
    """
    values = _floats(x)
    weights = np.broadcast_to(_floats(weight), values.shape)
    # Time first: one bar of all codes lies together.
    series = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    parts = np.moveaxis(weights, -1, 0)
    out = np.empty(series.shape)
    state = np.full(series.shape[1:], np.nan)
    missing = np.isnan(series)
    if not ((missing[1:] & ~missing[:-1]).any() or np.isnan(weights).any()):
        _run(series, parts, state, out)
        return np.ascontiguousarray(np.moveaxis(out, 0, -1))
    for at in range(len(series)):
        now = series[at]
        moved = np.where(np.isnan(state), now, state + parts[at] * (now - state))
        there = ~np.isnan(moved)
        state = np.where(there, moved, state)
        out[at] = moved
    return np.ascontiguousarray(np.moveaxis(out, 0, -1))


def _run(series: Floats, parts: Floats, state: Floats, out: Floats) -> None:
    """The recursion where nothing is missing but in front: a third of the work."""
    step = np.empty_like(state)
    for at in range(len(series)):
        np.subtract(series[at], state, out=step)
        np.multiply(step, parts[at], out=step)
        np.add(state, step, out=state)
        np.copyto(state, series[at], where=np.isnan(state))
        out[at] = state


def barslast(condition: Condition) -> Floats:
    """Bars since a condition held, 0 on the bar itself; NaN before the first time."""
    held = truth(condition)
    position = np.arange(held.shape[-1], dtype=np.float64)
    last = np.maximum.accumulate(np.where(held, position, -1.0), axis=-1)
    return np.where(last >= 0, position - last, np.nan)


def barslastcount(condition: Condition) -> Floats:
    """Bars in a row, up to this one, on which a condition holds; NaN where it is not known."""
    held = truth(condition)
    position = np.arange(held.shape[-1], dtype=np.float64)
    last = np.maximum.accumulate(np.where(held, -1.0, position), axis=-1)
    return np.where(np.isnan(three_valued.condition(condition)), np.nan, position - last)


def filter_(condition: Condition, n: int) -> Mask:
    """A condition without those of the n bars after each one kept."""
    held = np.moveaxis(truth(condition), -1, 0)
    out = np.zeros(held.shape, dtype=bool)
    free = np.zeros(held.shape[1:], dtype=np.int64)
    for at in range(len(held)):
        out[at] = held[at] & (free <= at)
        free = np.where(out[at], at + n + 1, free)
    return np.ascontiguousarray(np.moveaxis(out, 0, -1))


# Parts


def _floats(x: npt.ArrayLike) -> Floats:
    return np.asarray(x, dtype=np.float64)


def _windowed(start: Any, n: int, merge: Callable[[Any, Any, int, int], Any]) -> Any:
    """Windows of n bars out of blocks of 1, 2, 4 … bars.

    `merge(newer, older, bars of the newer, bars of the older)` joins two blocks that lie side by side.
    """
    if n < 1:
        raise ValueError(f"a window has at least 1 bar, not {n}")
    whole: Any = None
    done = 0
    doubled, width, rest = start, 1, n
    while rest:
        if rest & 1:
            whole = doubled if whole is None else merge(whole, _back(doubled, done), done, width)
            done += width
        rest >>= 1
        if rest:
            doubled = merge(doubled, _back(doubled, width), width, width)
            width *= 2
    return whole.copy() if isinstance(whole, np.ndarray) else whole


def _back(part: Any, n: int) -> Any:
    return ref(part, n) if isinstance(part, np.ndarray) else tuple(ref(one, n) for one in part)


def _mean(newer: Floats, older: Floats, of_newer: int, of_older: int) -> Floats:
    """Keeps the mean of equal values equal to them, which a sum divided by n does not."""
    return newer + (older - newer) * (of_older / (of_newer + of_older))


def _newer_highest(
    newer: tuple[Floats, Floats], older: tuple[Floats, Floats], of_newer: int, _of_older: int
) -> tuple[Floats, Floats]:
    known = ~(np.isnan(newer[0]) | np.isnan(older[0]))
    age = np.where(newer[0] >= older[0], newer[1], older[1] + of_newer)
    return np.maximum(newer[0], older[0]), np.where(known, age, np.nan)


_Moments = tuple[Floats, Floats, Floats]


def _moments(x: Floats, n: int) -> _Moments:
    """(mean, sum of squared distances from it, sum of products with the distance in time) of n bars."""
    start = (x, x - x, x - x)
    found: _Moments = _windowed(start, n, _merged_moments)
    return found


def _merged_moments(newer: _Moments, older: _Moments, of_newer: int, of_older: int) -> _Moments:
    """Chan's update: no difference of large sums, so that a flat stretch has no deviation at all."""
    bars = of_newer + of_older
    apart = newer[0] - older[0]
    weight = of_newer * of_older / bars
    time_apart = bars / 2
    return (
        _mean(newer[0], older[0], of_newer, of_older),
        newer[1] + older[1] + apart * apart * weight,
        newer[2] + older[2] + apart * time_apart * weight,
    )
