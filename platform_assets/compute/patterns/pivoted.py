"""Patterns made of confirmed pivots, walked bar by bar: reversals, and shapes between two lines."""

import numpy as np

from core.arrays import Floats, Ints
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import Lines, Thresholds
from platform_assets.compute.patterns.breaks import apart, has_volume
from platform_assets.compute.patterns.reversals import is_cup, reversal, take_pivot


@kernel
def _triangle(high_slope: float, low_slope: float, flat: float) -> int:
    """1 ascending, 2 descending, 3 symmetric, 0 none of them."""
    if abs(high_slope) < flat:
        return 1 if low_slope >= flat else 0
    if high_slope > 0.0:
        return 0
    if abs(low_slope) < flat:
        return 2
    return 3 if low_slope > 0.0 else 0


@kernel
def _wedge(high_slope: float, low_slope: float, flat: float) -> int:
    """1 rising, 2 falling, 0 neither."""
    if high_slope >= flat and low_slope >= flat:
        return 1
    return 2 if high_slope <= -flat and low_slope <= -flat else 0


@kernel
def _on(line: Floats, t: int) -> float:
    """Price of a line (bar, price, slope a bar) at bar t."""
    price: float = line[1] + line[2] * (t - line[0])
    return price


@kernel
def _draw(line: Floats, i: int, places: Ints, prices: Floats) -> None:
    """The line through entries i - 2 and i of the list of pivots."""
    line[0] = places[i]
    line[1] = prices[i]
    line[2] = (prices[i] - prices[i - 2]) / (places[i] - places[i - 2])


@kernel
def _side_left(upper: Floats, lower: Floats, t: int, close: float, tolerance: float) -> int:
    """1 where a close lies above the upper line, -1 below the lower one, 0 between them."""
    if close > _on(upper, t) * (1.0 + tolerance):
        return 1
    return -1 if close < _on(lower, t) * (1.0 - tolerance) else 0


@kernel
def _height(high: int, low: int, since: int, prices: Floats, p: Lines, tol: float) -> float:
    """Height of the rectangle of the last two highs and lows, `since` bars after its first pivot, as a
    fraction; 0 where they make none."""
    if since < p.rectangle_bars or apart(prices[high], prices[high - 2]) > p.rectangle_apart + tol:
        return 0.0
    if apart(prices[low], prices[low - 2]) > p.rectangle_apart + tol:
        return 0.0
    height = (prices[high] + prices[high - 2]) / (prices[low] + prices[low - 2]) - 1.0
    return height if p.rectangle_from - tol <= height <= p.rectangle_to + tol else 0.0


@kernel
def scan_pivoted(  # noqa: PLR0912, PLR0915 - one walk: a call per step would be slower to compile
    tops: Floats,
    bots: Floats,
    closes: Floats,
    volume: Floats,
    first: int,
    p: Thresholds,
    directions: Floats,
    metrics: Floats,
) -> None:
    """Fill `directions` [10, bars from `first` on]: cup; double, triple, head and shoulders, each as top and
    bottom; rectangle, triangle, wedge; and `metrics` [3, ..]: height of the rectangle, kind of the triangle,
    of the wedge.

    `tops`, `bots`, `closes` are [2, bars]: as they are, and for the mirrored patterns negated.
    """
    bars = len(volume)
    high, low, close = tops[0], bots[0], closes[0]
    places = np.empty(bars, dtype=np.int64)
    sides = np.empty(bars, dtype=np.int64)
    prices = np.empty(bars)
    broken = np.full(2, -1, dtype=np.int64)  # the last necks that a close went beyond: above, below
    upper, lower = np.zeros(3), np.zeros(3)
    count, drawn = 0, -1
    is_spent = True
    for t in range(p.pivots.lag, bars):
        count = take_pivot(high, low, t, p.pivots, p.tolerance, places, sides, prices, count)
        if count == 0:
            continue
        row = t - first
        is_requested = row >= 0 and t >= p.min_bars - 1
        for s in range(2):
            side = 1 - 2 * s
            k = count - 1 if sides[count - 1] == side else count - 2
            if k < 0 or places[k] == broken[s] or closes[s, t] <= side * prices[k]:
                continue
            broken[s] = places[k]
            if not is_requested or not has_volume(
                volume, t, p.volume.bars, p.volume.up if s == 0 else p.volume.down
            ):
                continue
            if s == 0 and is_cup(t, k, low, places, prices, p.cup, p.tolerance):
                directions[0, row] = 100.0
            found = reversal(side, t, k, tops[s], bots[s], places, prices, p.reversal, p.tolerance)
            if found > 0:
                directions[2 * found - s, row] = 100.0 * side
        if count < 4:
            continue
        newest = places[count - 1]
        h = count - 1 if sides[count - 1] > 0 else count - 2
        m = 2 * count - 3 - h
        if newest != drawn:
            drawn = newest
            _draw(upper, h, places, prices)
            _draw(lower, m, places, prices)
            is_spent = False
            for j in range(newest + 1, t):
                if _side_left(upper, lower, j, close[j], p.tolerance) != 0:
                    is_spent = True
        if is_spent:
            continue
        since = places[count - 4]
        width, now = _on(upper, since) - _on(lower, since), _on(upper, t) - _on(lower, t)
        left = _side_left(upper, lower, t, close[t], p.tolerance)
        is_spent = left != 0 or now <= 0.0
        if now <= 0.0 or not is_requested:
            continue
        direction = 0.0
        if left != 0 and has_volume(volume, t, p.volume.bars, p.volume.up if left > 0 else p.volume.down):
            direction = 100.0 * left
        height = _height(h, m, t - since, prices, p.lines, p.tolerance)
        if height > 0.0:
            directions[7, row] = direction
            metrics[0, row] = height * 100.0
        flat = p.lines.flat * close[t]
        if now <= p.lines.narrowing * width:
            kind = _triangle(upper[2], lower[2], flat)
            if kind > 0:
                directions[8, row] = direction
                metrics[1, row] = kind
        if now < width:
            kind = _wedge(upper[2], lower[2], flat)
            if kind > 0:
                directions[9, row] = direction if left == (-1 if kind == 1 else 1) else 0.0
                metrics[2, row] = kind
