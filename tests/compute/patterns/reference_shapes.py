"""The patterns without confirmed pivots, written again in plain Python: flag, arc, duck."""

import numpy as np

from platform_assets.compute.parameters.patterns import MIN_BARS
from platform_assets.compute.parameters.patterns import THRESHOLDS as T
from tests.compute.patterns.reference import EPS, Series


def bull_flag(s: Series, t: int) -> tuple[float, bool, int] | None:
    """(kind, whether the close breaks it, bar of the pole's end) of the flag on day t."""
    p = T.flag
    peak = t - p.age_to + int(np.argmax(s.high[t - p.age_to : t]))
    if t - peak < p.age_from:
        return None
    pole = [peak]
    while len(pole) <= p.pole_bars and pole[-1] > 0 and s.high[pole[-1] - 1] <= s.high[peak]:
        pole.append(pole[-1] - 1)
    lows = s.low[pole]
    base = pole[int(np.argmin(lows[1:])) + 1] if len(pole) > 1 else peak
    flag = slice(peak + 1, t)
    rise = s.high[peak] - s.low[base]
    quiet = s.volume[flag].mean() <= p.quiet * s.volume[base : peak + 1].mean() * (1 + EPS)
    if rise < (p.pole_move - EPS) * s.low[base] or s.high[peak] - s.low[flag].min() > p.retrace * rise + EPS:
        return None
    if not quiet:
        return None
    third = (t - 1 - peak) // 3
    spans = [
        s.high[part].max() - s.low[part].min()
        for part in (slice(peak + 1, peak + 1 + third), slice(t - third, t))
    ]
    kind = 2.0 if spans[1] <= p.contraction * spans[0] + EPS else 1.0
    return kind, bool(s.close[t] > s.high[flag].max()), peak


def bear_flag(s: Series, t: int) -> tuple[float, bool, int] | None:
    """The same of a pole downwards; kinds -1 and -2."""
    p = T.flag
    trough = t - p.age_to + int(np.argmin(s.low[t - p.age_to : t]))
    if t - trough < p.age_from:
        return None
    pole = [trough]
    while len(pole) <= p.pole_bars and pole[-1] > 0 and s.low[pole[-1] - 1] >= s.low[trough]:
        pole.append(pole[-1] - 1)
    base = pole[int(np.argmax(s.high[pole[1:]])) + 1] if len(pole) > 1 else trough
    flag = slice(trough + 1, t)
    fall = s.high[base] - s.low[trough]
    if fall < (p.pole_move - EPS) * s.high[base]:
        return None
    if s.high[flag].max() - s.low[trough] > p.retrace * fall + EPS:
        return None
    if s.volume[flag].mean() > p.quiet * s.volume[base : trough + 1].mean() * (1 + EPS):
        return None
    third = (t - 1 - trough) // 3
    early, late = slice(trough + 1, trough + 1 + third), slice(t - third, t)
    spans = [s.high[part].max() - s.low[part].min() for part in (early, late)]
    kind = -2.0 if spans[1] <= p.contraction * spans[0] + EPS else -1.0
    return kind, bool(s.close[t] < s.low[flag].min()), trough


def flags(s: Series) -> tuple[list[float], list[float]]:
    """(direction, kind or NaN) of every day. A pole whose flag was broken is used up."""
    bars = len(s.close)
    direction, kinds = [0.0] * bars, [float("nan")] * bars
    used: dict[int, int] = {}
    for t in range(T.flag.age_to, bars):
        for side, find in ((1, bull_flag), (-1, bear_flag)):
            found = find(s, t)
            if found is None or used.get(side) == found[2]:
                continue
            kind, is_broken, pole = found
            if is_broken:
                used[side] = pole
            if t < MIN_BARS - 1 or not (is_broken or np.isnan(kinds[t])):
                continue
            kinds[t] = kind
            least = T.flag.up if side > 0 else T.flag.down
            mean = s.volume[pole + 1 : t].mean()
            if is_broken and mean > 0 and s.volume[t] >= least * mean:
                direction[t] = 100.0 * side
    return direction, kinds


def arcs(s: Series, *, bottom: bool) -> list[float]:
    """Direction of every day."""
    p, found, used = T.arc, [0.0] * len(s.close), -1.0
    for t in range(len(s.close)):
        for bars in (p.short, p.middle, p.long):
            start = t - bars
            if start < 0:
                continue
            y, x = s.close[start:t], np.linspace(-1, 1, bars)
            rim = y[: p.rim_bars].max() if bottom else y[: p.rim_bars].min()
            inside = (y[p.rim_bars :] <= rim).all() if bottom else (y[p.rim_bars :] >= rim).all()
            if not inside or not (s.close[t] > rim if bottom else s.close[t] < rim):
                continue
            a, b, c = np.polyfit(x, y / y[0], 2)
            rest = ((y / y[0] - np.polyval((a, b, c), x)) ** 2).sum()
            whole = ((y / y[0] - (y / y[0]).mean()) ** 2).sum()
            vertex = -b / (2 * a)
            if (a if bottom else -a) < p.curvature or abs(vertex) > p.vertex or 1 - rest / whole < p.fit:
                continue
            if start + (vertex + 1) / 2 * (bars - 1) <= used:
                continue
            third = bars // 3
            v = s.volume[start:t]
            outer = (v[:third].mean() + v[-third:].mean()) / 2
            if bottom and v[third : bars - third].mean() > p.quiet * outer:
                continue
            used = t
            if t >= MIN_BARS - 1 and s.has_volume(t, up=bottom):
                found[t] = 100.0 if bottom else -100.0
            break
    return found


def duck(s: Series) -> dict[str, list[float]]:
    """Stage, buy and sell of every day."""
    p, bars = T.duck, len(s.close)
    reported = {name: [0.0] * bars for name in ("duck_stage", "duck_buy", "duck_sell")}

    def mean(t: int, count: int) -> float:
        return float(s.close[t - count + 1 : t + 1].mean())

    def above(t: int) -> bool:
        slow = mean(t, p.slow) * (1 + EPS)
        return mean(t, p.fast) > slow and mean(t, p.middle) > slow

    stage = neck = head = 0
    for t in range(MIN_BARS - 1, bars):
        fast, middle, slow = (mean(t, count) for count in (p.fast, p.middle, p.slow))
        if stage == 0 and above(t) and not above(t - 1):
            stage, neck = 1, t
        top_at = neck + int(np.argmax(s.high[neck : (head if stage > 1 else t) + 1]))
        top = s.high[top_at]
        if stage == 1:
            if t - neck > p.neck_to or middle <= slow * (1 + EPS):
                stage = 0
            elif (
                t - neck >= p.neck_from
                and fast < middle * (1 - EPS)
                and 1 - s.low[t] / top >= p.pullback - EPS
                and top >= (1 + p.head_rise - EPS) * mean(neck, p.slow)
            ):
                stage, head = 2, t
        elif stage == 2:
            if t - head > p.head_to:
                stage = 0
            elif fast > middle * (1 + EPS):
                quiet = s.volume[head:t].mean() <= (p.quiet + EPS) * s.volume[neck : top_at + 1].mean()
                stage = 3 if quiet else 0
        if stage == 3 and t - top_at > p.beak_to:
            stage = 0
        reported["duck_stage"][t] = stage
        if stage < 2:
            continue
        if s.close[t] > top:
            rising = slow > mean(t - p.rising_bars, p.slow) * (1 + EPS)
            reported["duck_buy"][t] = 100.0 if stage == 3 and rising and s.has_volume(t, up=True) else 0.0
            stage = 0
        elif s.close[t] < slow * (1 - EPS) or middle <= slow * (1 + EPS):
            reported["duck_sell"][t] = -100.0 if s.has_volume(t, up=False) else 0.0
            stage = 0
    return reported
