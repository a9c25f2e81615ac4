"""The old duck's head (老鸭头): a state machine over three averages."""

import numpy as np

from core.arrays import Floats
from platform_assets.compute.kernels import kernel
from platform_assets.compute.parameters.patterns import Duck, Volume
from platform_assets.compute.patterns.breaks import has_volume, mean_of

NOTHING, NECK, HEAD, BEAK = 0, 1, 2, 3


@kernel
def _average(close: Floats, t: int, bars: int, before: float) -> float:
    """Mean of the `bars` closes up to t from the mean up to t - 1."""
    gone: float = close[t - bars] if t >= bars else before
    step: float = (close[t] - gone) / min(t + 1, bars)
    return before + step


@kernel
def scan_duck(  # noqa: PLR0912, PLR0915 - one walk: a call per step would be slower to compile
    high: Floats,
    low: Floats,
    close: Floats,
    volume: Floats,
    first: int,
    begin: int,
    p: Duck,
    breaks: Volume,
    tol: float,
    buy: Floats,
    sell: Floats,
    metrics: Floats,
) -> None:
    """`metrics` [5, bars from `first` on]: stage, days since the neck began, pullback, shrinking of the
    volume, and break, in percent."""
    fast = middle = slow = 0.0
    slows = np.empty(len(close))
    was_above = True  # unknown: a neck begins on a day that follows one without
    stage, neck, turn, top_at = NOTHING, 0, 0, 0
    top = neck_slow = neck_volume = 0.0
    for t in range(len(close)):
        fast = _average(close, t, p.fast, fast)
        middle = _average(close, t, p.middle, middle)
        slow = _average(close, t, p.slow, slow)
        slows[t] = slow
        if t < begin - 1:
            continue
        is_above = fast > slow * (1.0 + tol) and middle > slow * (1.0 + tol)
        is_low = middle <= slow * (1.0 + tol)
        is_new, was_above = is_above and not was_above, is_above
        if t < begin:
            continue
        if stage == NOTHING:
            if not is_new:
                continue
            stage, neck, neck_slow, top, top_at = NECK, t, slow, high[t], t
        if stage == NECK:
            if high[t] > top:
                top, top_at = high[t], t
            if t - neck > p.neck_to or is_low:
                stage = NOTHING
                continue
            if (
                t - neck >= p.neck_from
                and fast < middle * (1.0 - tol)
                and 1.0 - low[t] / top >= p.pullback - tol
                and top >= (1.0 + p.head_rise - tol) * neck_slow
            ):
                stage, turn = HEAD, t
                neck_volume = mean_of(volume, neck, top_at + 1)
        elif stage == HEAD:
            if t - turn > p.head_to:
                stage = NOTHING
                continue
            if fast > middle * (1.0 + tol):
                stage = BEAK if mean_of(volume, turn, t) <= (p.quiet + tol) * neck_volume else NOTHING
        if stage == BEAK and t - top_at > p.beak_to:
            stage = NOTHING
        if stage == NOTHING:
            continue
        is_over = close[t] > top and stage >= HEAD
        is_under = close[t] < slow * (1.0 - tol) or is_low
        row = t - first
        if row >= 0:
            metrics[0, row] = stage
            metrics[1, row] = t - neck
            metrics[2, row] = (1.0 - low[t] / top) * 100.0
            if stage >= HEAD and neck_volume > 0.0:
                metrics[3, row] = (1.0 - mean_of(volume, turn, t + 1) / neck_volume) * 100.0
            if is_over and stage == BEAK:
                metrics[4, row] = (close[t] / top - 1.0) * 100.0
                if slow > slows[t - p.rising_bars] * (1.0 + tol) and has_volume(
                    volume, t, breaks.bars, breaks.up
                ):
                    buy[row] = 100.0
            elif is_under and stage >= HEAD and has_volume(volume, t, breaks.bars, breaks.down):
                sell[row] = -100.0
        if is_over or (is_under and stage >= HEAD):
            stage = NOTHING
