"""What followed a pattern: returns of its rows beside those of all codes and of the index. Pure numpy.

A position is taken at the close of the day of the signal and valued `forward` market days later at its
last known close, so that a code which is suspended or delisted on the way stays in the sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HORIZONS = (1, 3, 5, 10)
"""Market days after the signal."""


class Outcome(NamedTuple):
    """One signal and what followed it; returns in percent."""

    date: str
    change: float
    index_change: float
    """of the index over the same days; NaN when it is not known"""
    base_rate: float
    """share of all codes that moved in the signal's direction over the same days, percent"""


@dataclass(frozen=True)
class Window:
    """Closes of the market times the cumulative factor, [codes, dates], NaN where a code did not trade; and
    of the index by date."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    closes: Floats
    index: Mapping[str, float]


def forward_changes(closes: Floats, at: int, forward: int) -> Floats:
    """[codes] percent from the close of date `at` to the last close known `forward` dates later."""
    last = closes[:, at]
    for column in range(at + 1, at + forward + 1):
        last = np.where(np.isnan(closes[:, column]), last, closes[:, column])
    changes: Floats = (last / closes[:, at] - 1) * 100
    return changes


def outcomes(
    window: Window, hits: Sequence[tuple[str, str]], *, forward: int, direction: int
) -> list[Outcome]:
    """Of each (code, date) whose end lies within the window; in the order of the dates."""
    place = {code: at for at, code in enumerate(window.codes)}
    column = {day: at for at, day in enumerate(window.dates)}
    by_day: dict[str, list[int]] = {}
    for code, day in hits:
        if code in place and column.get(day, len(column)) + forward < len(window.dates):
            by_day.setdefault(day, []).append(place[code])
    found: list[Outcome] = []
    for day, rows in sorted(by_day.items()):
        at = column[day]
        changes = forward_changes(window.closes, at, forward)
        known = changes[~np.isnan(changes)]
        base = float(np.mean(known * direction > 0) * 100) if len(known) else np.nan
        start, end = (window.index.get(window.dates[one], np.nan) for one in (at, at + forward))
        index = (end / start - 1) * 100
        found += [
            Outcome(day, float(changes[row]), index, base) for row in rows if changes[row] == changes[row]
        ]
    return found


def summary(found: Sequence[Outcome], direction: int) -> dict[str, Any]:
    """Figures of the outcomes, percent; of none: zero samples and None."""
    changes = np.array([one.change for one in found])
    wins = changes * direction > 0
    years = np.array([one.date[:4] for one in found], dtype="<U4")
    return {
        "samples": len(found),
        "dates": len({one.date for one in found}),
        "win_rate_pct": _mean(wins * 100.0),
        "avg_pct": _mean(changes),
        "median_pct": _rounded(np.median(changes)) if len(found) else None,
        "excess_pct": _mean(changes - np.array([one.index_change for one in found])),
        "base_rate_pct": _mean(np.array([one.base_rate for one in found])),
        "best_pct": _rounded(changes.max()) if len(found) else None,
        "worst_pct": _rounded(changes.min()) if len(found) else None,
        "by_year": [
            {
                "year": int(year),
                "samples": int((years == year).sum()),
                "win_rate_pct": _mean(wins[years == year] * 100.0),
                "avg_pct": _mean(changes[years == year]),
            }
            for year in sorted(set(years.tolist()))
        ],
    }


def _mean(values: npt.NDArray[np.floating[Any]]) -> float | None:
    """Of what is known; None of nothing."""
    known = values[~np.isnan(values)]
    return _rounded(known.mean()) if len(known) else None


def _rounded(value: Any) -> float:
    return round(float(value), 4)
