"""Families that need no confirmed pivots: flag, island, arc. Written for one side, as the reversals are."""

import numpy as np

from core.arrays import Floats
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import Arc, Flag, Island, Volume
from platform_assets.compute.patterns.breaks import has_volume, mean_of


@kernel
def _span(top: Floats, bot: Floats, start: int, stop: int) -> float:
    """Highest top less lowest bottom of the bars [start, stop)."""
    highest: float = top[start]
    lowest: float = bot[start]
    for j in range(start + 1, stop):
        highest, lowest = max(highest, top[j]), min(lowest, bot[j])
    return highest - lowest


@kernel
def scan_flags(  # noqa: PLR0912 - one walk: a call per step would be slower to compile
    side: int,
    top: Floats,
    bot: Floats,
    close: Floats,
    volume: Floats,
    first: int,
    begin: int,
    p: Flag,
    tol: float,
    direction: Floats,
    kinds: Floats,
) -> None:
    """Bull flags (side 1), bear flags (-1). Nothing is said before bar `begin`."""
    peak, seen, broken = -1, -1, -1
    base = pole_volume = 0.0
    for t in range(p.age_to, len(volume)):
        start = t - p.age_to
        if peak < start:
            peak = start
            for j in range(start + 1, t):
                if top[j] > top[peak]:
                    peak = j
        elif top[t - 1] > top[peak]:
            peak = t - 1
        if t - peak < p.age_from or peak == broken:
            continue
        if seen != peak:
            seen, base_at, base = peak, peak, top[peak]
            for j in range(peak - 1, max(peak - p.pole_bars, 0) - 1, -1):
                if top[j] > top[peak]:
                    break
                if bot[j] < base:
                    base_at, base = j, bot[j]
            pole_volume = mean_of(volume, base_at, peak + 1)
        pole = top[peak] - base
        if pole < (p.pole_move - tol) * abs(base):
            continue
        highest, lowest = top[peak + 1], bot[peak + 1]
        for j in range(peak + 2, t):
            highest, lowest = max(highest, top[j]), min(lowest, bot[j])
        mean = mean_of(volume, peak + 1, t)
        if top[peak] - lowest > (p.retrace + tol) * pole or mean > (p.quiet + tol) * pole_volume:
            continue
        is_broken = close[t] > highest
        if is_broken:
            broken = peak
        row = t - first
        if row < 0 or t < begin or not (is_broken or np.isnan(kinds[row])):
            continue  # the other side's flag is there already
        third = (t - 1 - peak) // 3
        early, late = _span(top, bot, peak + 1, peak + 1 + third), _span(top, bot, t - third, t)
        kinds[row] = side * (2.0 if late <= (p.contraction + tol) * early else 1.0)
        if is_broken and mean > 0.0 and volume[t] >= (p.up if side > 0 else p.down) * mean:
            direction[row] = 100.0 * side


@kernel
def scan_islands(
    side: int,
    top: Floats,
    bot: Floats,
    close: Floats,
    first: int,
    begin: int,
    p: Island,
    tol: float,
    direction: Floats,
) -> None:
    """Island tops (side 1) and bottoms (-1): all known on the day of the second gap."""
    for t in range(max(begin, first, p.bars + p.prior_bars + 1), len(close)):
        if bot[t - 1] - top[t] < (p.gap - tol) * abs(bot[t - 1]):
            continue
        lowest = bot[t - 1]
        for g in range(t - 1, t - 1 - p.bars, -1):
            lowest = min(lowest, bot[g])
            if lowest <= top[t]:
                break
            before = top[g - 1]
            if lowest <= before or bot[g] - before < (p.gap - tol) * abs(before):
                continue
            past = close[g - 1 - p.prior_bars]
            if close[g - 1] - past >= (p.prior_move - tol) * abs(past):
                direction[t - first] = -100.0 * side
                break


@kernel
def _bends(y: Floats, start: int, bars: int, p: Arc, tol: float) -> float:
    """Vertex in [-1, 1] of the parabola through y[start:start + bars] / |y[start]| where it opens upwards
    and fits; 2 where it does not."""
    scale, step = abs(y[start]), 2.0 / (bars - 1)
    s2 = s4 = sy = sxy = sxxy = 0.0
    for i in range(bars):
        x, v = i * step - 1.0, y[start + i] / scale
        s2 += x * x
        s4 += x * x * x * x
        sy += v
        sxy += x * v
        sxxy += x * x * v
    a = (bars * sxxy - s2 * sy) / (bars * s4 - s2 * s2)
    b = sxy / s2
    c = (sy - a * s2) / bars
    if a < p.curvature - tol or abs(b) > (p.vertex + tol) * 2.0 * a:
        return 2.0
    rest = whole = 0.0
    for i in range(bars):
        x, v = i * step - 1.0, y[start + i] / scale
        rest += (v - (a * x * x + b * x + c)) ** 2
        whole += (v - sy / bars) ** 2
    return -b / (2.0 * a) if whole - rest >= (p.fit - tol) * whole else 2.0


@kernel
def scan_arcs(
    side: int,
    close: Floats,
    volume: Floats,
    first: int,
    begin: int,
    p: Arc,
    breaks: Volume,
    tol: float,
    direction: Floats,
) -> None:
    """Rounded bottoms (side 1) and tops (-1). An arc whose vertex is not after the last broken rim is the
    formation that was broken then."""
    broken = -1
    for t in range(p.short, len(close)):
        for w in range(3):
            bars = p.short if w == 0 else p.middle if w == 1 else p.long
            start = t - bars
            # The rim: the highest of the first closes; crossed today, and by no close since.
            if start < 0 or close[t] <= close[start] or close[t] <= close[t - 1]:
                continue
            rim = close[start]
            for j in range(start + 1, start + p.rim_bars):
                rim = max(rim, close[j])
            if close[t] <= rim:
                continue
            j = t - 1
            while j >= start + p.rim_bars and close[j] <= rim:
                j -= 1
            if j >= start + p.rim_bars:
                continue
            vertex = _bends(close, start, bars, p, tol)
            if vertex > 1.0 or start + (vertex + 1.0) / 2.0 * (bars - 1) <= broken:
                continue
            third = bars // 3
            if side > 0:
                outer = (mean_of(volume, start, start + third) + mean_of(volume, t - third, t)) / 2.0
                if mean_of(volume, start + third, t - third) > (p.quiet + tol) * outer:
                    continue
            broken = t
            least = breaks.up if side > 0 else breaks.down
            if t >= max(begin, first) and has_volume(volume, t, breaks.bars, least):
                direction[t - first] = 100.0 * side
            break
