"""What became of leaders: changes of price some trade dates after they were scored. Pure numpy.

A leader that rests on a date is measured by the last bar before it, as the forward returns of picks are: one
that is suspended stays among those that are reviewed.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from platform_assets.compute.parameters.dragon import REVIEW_STEPS
from platform_assets.compute.parameters.scorecards import WAIT_DAYS
from platform_assets.compute.scorecards.forward import PARTIAL, PENDING, REVIEWED

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Review:
    """`changes` [steps, leaders] in percent, in the order of `REVIEW_STEPS`, NaN where not known; `status`
    [leaders] pending, partial (the first session after is over), reviewed (the last one is)."""

    changes: Floats
    status: npt.NDArray[np.str_]


def review_leaders(close: Floats, known: Bools, day_at: Ints) -> Review:
    """`close` [leaders, dates]: adjusted closes on consecutive trade dates whose session is over, NaN where a
    leader did not trade; `known` [dates] whether the market's bars are stored; `day_at` [leaders] the place
    of the date of each score, -1 before its own close.

    A date whose bars are not stored is waited for, and so is the first bar of a leader that has none in the
    whole window: what is missing after `WAIT_DAYS` dates is settled without a change.
    """
    leaders, dates = close.shape
    changes = np.full((len(REVIEW_STEPS), leaders), np.nan)
    status = np.full(leaders, PENDING, dtype="<U8")
    if not leaders or not dates:
        return Review(changes, status)
    row = np.arange(leaders)
    place = np.arange(dates)
    newest = np.maximum.accumulate(np.where(np.isfinite(close), place, -1), axis=1)
    scored = day_at >= 0
    elapsed = np.where(scored, dates - 1 - day_at, 0)
    waited = elapsed >= WAIT_DAYS
    base_at = newest[row, np.maximum(day_at, 0)]
    base = np.where(base_at >= 0, close[row, np.maximum(base_at, 0)], np.nan)
    settled = np.zeros((len(REVIEW_STEPS), leaders), dtype=bool)
    moved = np.zeros(leaders, dtype=bool)
    for step, days in enumerate(REVIEW_STEPS.values()):
        end = np.minimum(np.maximum(day_at, 0) + days, dates - 1)
        last = newest[row, end]
        moved = last > day_at
        settled[step] = scored & (elapsed >= days) & ((last == end) | known[end] | waited)
        changes[step] = np.where(settled[step] & moved, (close[row, last] / base - 1) * 100, np.nan)
    status[settled[0]] = PARTIAL
    status[settled.all(axis=0) & (moved | waited)] = REVIEWED
    return Review(changes, status)
