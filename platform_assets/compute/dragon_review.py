"""Review of leaders: changes of price some trade dates after they were scored. Pure numpy.

A leader that rests on a date is measured by the last bar before it, as the forward returns of picks are: one
that is suspended stays among those that are reviewed.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats, Ints
from platform_assets.compute.parameters.dragon import REVIEW_STEPS
from platform_assets.compute.parameters.scorecards import WAIT_DAYS
from platform_assets.compute.scorecards.forward import PARTIAL, PENDING, REVIEWED

_SCORE = 1
"""Place of the date of a score in its window."""


@dataclass(frozen=True)
class Review:
    """`changes` [steps, leaders] in percent, in the order of `REVIEW_STEPS`, NaN where not known; `status`
    [leaders] pending, partial (the first session after is over), reviewed (the last one is)."""

    changes: Floats
    status: npt.NDArray[np.str_]


def review_leaders(close: Floats, known: Bools, code_at: Ints, day_at: Ints) -> Review:
    """`close` [codes, dates]: adjusted closes on consecutive trade dates whose session is over, NaN where a
    code did not trade; `known` [dates] whether the market's bars are stored; `code_at` [leaders] the place of
    each leader's code (-1: it has no bar), `day_at` that of the date of its score (-1: before its close).

    A date whose bars are not stored is waited for, and so is the first bar of a leader that has none in the
    whole window: what is missing after `WAIT_DAYS` dates is settled without a change.
    """
    leaders, dates = len(day_at), close.shape[1]
    changes = np.full((len(REVIEW_STEPS), leaders), np.nan)
    status = np.full(leaders, PENDING, dtype="<U8")
    if not leaders or not dates:
        return Review(changes, status)
    scored = day_at >= 0
    elapsed = np.where(scored, dates - 1 - day_at, 0)
    waited = elapsed >= WAIT_DAYS
    # From the date before the score, whose close is used for a leader that was suspended on its date.
    spans = day_at[:, None] + np.arange(-1, max(REVIEW_STEPS.values()) + 1)
    there = scored[:, None] & (code_at >= 0)[:, None] & (spans >= 0) & (spans < dates)
    inside = np.clip(spans, 0, dates - 1)
    window: Floats = np.full(spans.shape, np.nan)
    if len(close):
        window = np.where(there, close[np.maximum(code_at, 0)[:, None], inside], np.nan)
    newest = np.maximum.accumulate(np.where(np.isfinite(window), np.arange(window.shape[1]), -1), axis=1)
    row = np.arange(leaders)
    base = np.where(newest[:, _SCORE] >= 0, window[row, newest[:, _SCORE]], np.nan)
    settled = np.zeros((len(REVIEW_STEPS), leaders), dtype=bool)
    moved = np.zeros(leaders, dtype=bool)
    for step, days in enumerate(REVIEW_STEPS.values()):
        end = _SCORE + days
        last = newest[:, end]
        moved = last > _SCORE
        loaded = (last == end) | known[inside[:, end]]
        settled[step] = scored & (elapsed >= days) & (loaded | waited)
        changes[step] = np.where(settled[step] & moved, (window[row, last] / base - 1) * 100, np.nan)
    status[settled[0]] = PARTIAL
    status[settled.all(axis=0) & (moved | waited)] = REVIEWED
    return Review(changes, status)
