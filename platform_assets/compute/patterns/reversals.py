"""Formations with a horizontal neckline: head and shoulders, triple, double, cup with handle.

Written for bottoms. A top is a bottom of negated prices: `top`, `bot` and `close` are then the negated low,
high and close, and pivot prices are multiplied by `side`. Distances are fractions of the reference price's
size, so that the same line of code reads both.
"""

from core.arrays import Floats, Ints
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import Cup, Pivots, Reversal
from platform_assets.compute.patterns.breaks import apart

NONE, DOUBLE, TRIPLE, HEAD_SHOULDERS = 0, 1, 2, 3


@kernel
def take_pivot(
    high: Floats,
    low: Floats,
    t: int,
    p: Pivots,
    tolerance: float,
    places: Ints,
    sides: Ints,
    prices: Floats,
    count: int,
) -> int:
    """Take bar t - lag, which bar t confirms or not, into the alternating list that is the first `count`
    entries of `places` (bars), `sides` (1 high, -1 low) and `prices`; its new count.
    """
    at = t - p.lag
    if at < p.lag:
        return count
    is_high, is_low = True, True
    for j in range(1, p.lag + 1):
        if high[at] <= high[at - j] or high[at] < high[at + j]:
            is_high = False
        if low[at] >= low[at - j] or low[at] > low[at + j]:
            is_low = False
        if not is_high and not is_low:
            return count
    if is_high and is_low:
        return count
    side = 1 if is_high else -1
    price = high[at] if is_high else low[at]
    if count > 0:
        last = prices[count - 1]
        if sides[count - 1] == side:
            if (price - last) * side > 0.0:
                places[count - 1] = at
                prices[count - 1] = price
            return count
        if (price - last) * side < p.distance * last * (1.0 - tolerance):
            return count
    places[count] = at
    sides[count] = side
    prices[count] = price
    return count + 1


@kernel
def lowest(values: Floats, start: int, stop: int) -> int:
    """The first place of the smallest of values[start:stop]."""
    found = start
    for j in range(start + 1, stop):
        if values[j] < values[found]:
            found = j
    return found


@kernel
def _has_fallen(top: Floats, bot: float, first: int, p: Reversal, tolerance: float) -> bool:
    """Whether a first low lies far enough below the highest high of the bars before it."""
    if first < 1:
        return False
    highest = top[first - 1]
    for j in range(max(0, first - p.prior_bars), first - 1):
        highest = max(highest, top[j])
    fallen: float = (highest - bot) / abs(highest)
    return fallen >= p.prior_move - tolerance


@kernel
def reversal(
    side: float,
    t: int,
    k: int,
    top: Floats,
    bot: Floats,
    places: Ints,
    prices: Floats,
    p: Reversal,
    tol: float,
) -> int:
    """Which formation bar t breaks, whose neckline is entry k of the list of pivots: the strongest name
    first. The last low is the lowest bar since the neck, before t.
    """
    if k < 1:
        return NONE
    neck, low = side * prices[k], side * prices[k - 1]
    neck_at, low_at = places[k], places[k - 1]
    last_at = lowest(bot, neck_at + 1, t)
    last = bot[last_at]
    if k >= 3 and apart(prices[k], prices[k - 2]) <= p.necks_apart + tol:
        first, first_at = side * prices[k - 3], places[k - 3]
        ratio = (low_at - first_at) / max(1, last_at - low_at)
        if (
            (first - low) / abs(first) >= p.head_beyond - tol
            and (last - low) / abs(last) >= p.head_beyond - tol
            and apart(first, last) <= p.shoulders_apart + tol
            and p.ratio_from - tol <= ratio <= p.ratio_to + tol
            and last_at > low_at
        ):
            return HEAD_SHOULDERS
        widest = max(apart(first, low), apart(low, last), apart(first, last))
        if widest <= p.triple_apart + tol and _has_fallen(top, first, first_at, p, tol):
            return TRIPLE
    if (
        abs(last - low) / abs(low) <= p.double_apart + tol
        and p.double_from <= last_at - low_at <= p.double_to
        and (neck - min(low, last)) / abs(neck) >= p.double_depth - tol
        and t - last_at <= p.double_age
        and _has_fallen(top, low, low_at, p, tol)
    ):
        return DOUBLE
    return NONE


@kernel
def is_cup(t: int, k: int, low: Floats, places: Ints, prices: Floats, p: Cup, tol: float) -> bool:
    """Whether bar t breaks a cup whose right rim is entry k of the list of pivots; its left rim is the high
    before, so that no swing lies between them but the cup itself."""
    if k < 2:
        return False
    right, right_at, left, left_at = prices[k], places[k], prices[k - 2], places[k - 2]
    span = right_at - left_at
    if not (p.handle_from <= t - right_at <= p.handle_to and p.bars_from <= span <= p.bars_to):
        return False
    bottom_at = lowest(low, left_at + 1, right_at)
    bottom = low[bottom_at]
    depth = (left - bottom) / left
    where = (bottom_at - left_at) / span
    return (
        apart(left, right) <= p.rims_apart + tol
        and p.depth_from - tol <= depth <= p.depth_to + tol
        and p.low_from - tol <= where <= p.low_to + tol
        and low[lowest(low, right_at + 1, t)] >= (bottom + p.handle_hold * (left - bottom)) * (1.0 - tol)
    )
