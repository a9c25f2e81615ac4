"""The emotion cycle: a score 0 to 100 of each date from seven inputs, and the stage that follows from it.

Arrays are [dates], consecutive trade dates, oldest first; what is not known is NaN. Nothing of a date looks
at a later one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import weighted_mean
from platform_assets.compute.parameters import market_phase as own


@dataclass(frozen=True)
class Scores:
    """`parts` [inputs, dates] are 0..100, a high one good; `covered` is the share of the weight that is
    known (0..1); `total` is NaN below `LEAST_COVERED`."""

    parts: Floats
    covered: Floats
    total: Floats


def score_days(inputs: Mapping[str, Floats]) -> Scores:
    """`inputs`: key of `INPUTS` -> values by date. A missing one is left out, and the weights of the others
    are scaled up."""
    parts = np.vstack([_scaled(one, inputs[one.key]) for one in own.INPUTS])
    mean, covered = weighted_mean(parts, [one.weight for one in own.INPUTS])
    return Scores(parts, covered, np.where(covered >= own.LEAST_COVERED - 1e-9, mean, np.nan))


def _scaled(one: own.Input, values: Floats) -> Floats:
    """Each value by its rank among the `HISTORY_DAYS` before it; by the anchors where few are known."""
    parts = np.full(len(values), np.nan)
    for at in np.flatnonzero(~np.isnan(values)).tolist():
        before = values[max(0, at - own.HISTORY_DAYS) : at]
        before = before[~np.isnan(before)]
        if before.size >= own.FEWEST_DAYS:
            rank = rank_pct(before, float(values[at]))
            parts[at] = 100 - rank if one.inverted else rank
        else:
            share = (values[at] - one.worst) / (one.best - one.worst)
            parts[at] = min(1.0, max(0.0, float(share))) * 100
    return parts


def rank_pct(before: Floats, value: float) -> float:
    """Percent of the values below `value`, equal ones counted half."""
    below, equal = np.count_nonzero(before < value), np.count_nonzero(before == value)
    return float((below + equal / 2) / before.size * 100)


def slopes(totals: Floats) -> Floats:
    """Each score less the mean of the known ones of the `SLOPE_DAYS` before; NaN where none is known."""
    found = np.full(len(totals), np.nan)
    for at in range(1, len(totals)):
        before = totals[max(0, at - own.SLOPE_DAYS) : at]
        before = before[~np.isnan(before)]
        if before.size:
            found[at] = totals[at] - before.mean()
    return found


def raw_stage(score: float, slope: float) -> str:
    """The stage of score and slope by themselves; an unknown slope counts as none."""
    if score < own.ICE_BELOW:
        return own.ICE
    if score >= own.CLIMAX_FROM:
        return own.CLIMAX
    falls = slope < 0
    if score >= own.WARM_FROM:
        return own.DIVERGE if falls else own.RISE
    return own.EBB if falls else own.REPAIR


def settle(totals: Floats, stored: Sequence[str | None] = ()) -> list[str | None]:
    """The stage of each date; a stage in `stored` (of a date that was stored before) is taken as it is.

    A change needs `CONFIRM_DAYS` dates with the same new stage, or a distance of `MARGIN` points from
    the border; an extreme is entered at once. A date without a score has no stage: the one before stays.
    """
    found: list[str | None] = []
    current: str | None = None
    reported, days = "", 0
    for at, (score, slope) in enumerate(zip(totals.tolist(), slopes(totals).tolist(), strict=True)):
        if np.isnan(score):
            found.append(None)
            continue
        new = raw_stage(score, slope)
        days = days + 1 if new == reported else 1
        reported = new
        known = stored[at] if at < len(stored) else None
        if known is not None:
            current = known
        elif (
            current is None
            or new in own.EXTREMES
            or days >= own.CONFIRM_DAYS
            or (new != current and _distance(current, new, score, slope) >= own.MARGIN)
        ):
            current = new
        found.append(current)
    return found


_BANDS = {own.ICE: 0, own.REPAIR: 1, own.EBB: 1, own.RISE: 2, own.DIVERGE: 2, own.CLIMAX: 3}
_EDGES = (own.ICE_BELOW, own.WARM_FROM, own.CLIMAX_FROM)


def _distance(current: str, new: str, score: float, slope: float) -> float:
    """Points between a date and the border by which it left the current stage: of the score where the bands
    differ, else of the slope."""
    was, now = _BANDS[current], _BANDS[new]
    if was == now:
        return abs(slope)
    return score - _EDGES[was] if now > was else _EDGES[was - 1] - score


@dataclass(frozen=True)
class Segment:
    """A run of dates in one stage."""

    phase: str
    since: str
    until: str
    days: int


def segments(days: Sequence[tuple[str, str]]) -> list[Segment]:
    """(date, stage), oldest first -> runs of equal stages, oldest first."""
    runs = ((phase, [day for day, _ in run]) for phase, run in groupby(days, key=lambda one: one[1]))
    return [Segment(phase, run[0], run[-1], len(run)) for phase, run in runs]


def transition_counts(phases: Sequence[str]) -> dict[str, dict[str, int]]:
    """Stage -> stage of the next date -> how often it followed. The last date has no next one; a stage that
    nothing followed is left out."""
    counts: dict[str, dict[str, int]] = {}
    for (now, then), count in sorted(Counter(pairwise(phases)).items()):
        counts.setdefault(now, {})[then] = count
    return counts


def transitions(phases: Sequence[str]) -> dict[str, dict[str, float]]:
    """Stage -> stage of the next date -> share of the dates in the first that the second followed, with four
    decimals."""
    return {
        now: {then: round(count / sum(following.values()), 4) for then, count in following.items()}
        for now, following in transition_counts(phases).items()
    }
