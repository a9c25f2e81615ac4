"""Returns after signals of a pattern, compared with those of all codes and of the index. Pure numpy.

A signal is followed as every pick is (`compute.scorecards.forward`): bought at the open of the next market
date, sold at the close of the last of `hold` dates, the first of which is that of the purchase. One that
never traded again while it was waited for has no return and has not won: it stays in the denominator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.arrays import Bools, Floats
from platform_assets.compute.scorecards.forward import PENDING, forward_returns
from platform_assets.compute.scorecards.prices import Benchmark, Prices

HORIZONS = (1, 3, 5, 10)
"""Market dates that a signal is held."""


class Outcome(NamedTuple):
    """One settled signal and what followed it; returns in percent, NaN where it never traded again."""

    date: str
    change: float
    excess: float
    """less that of the index over the same dates; NaN when it is not known"""
    base_rate: float
    """share of all settled codes that moved in the signal's direction over the same dates, percent"""
    is_unfillable: bool
    """the purchase would have been at the limit-up price"""


@dataclass(frozen=True)
class Followed:
    """Returns after each code and date, [dates, codes]: percent, NaN where the code did not trade on
    the date, never traded within the holding, or the holding has not ended. `settled`: it traded on the date,
    and nothing is waited for any more."""

    codes: tuple[str, ...]
    dates: tuple[str, ...]
    change: Floats
    excess: Floats
    unfillable: Bools
    settled: Bools

    @property
    def nbytes(self) -> int:
        return self.change.nbytes + self.excess.nbytes + self.unfillable.nbytes + self.settled.nbytes


def followed(prices: Prices, benchmark: Benchmark, count: int, *, hold: int) -> Followed:
    """Returns after signals of the first `count` dates of the prices; the later dates give the outcomes."""
    codes = np.arange(len(prices.codes))
    change, excess = (np.full((count, len(codes)), np.nan) for _ in range(2))
    unfillable, settled = (np.zeros((count, len(codes)), dtype=bool) for _ in range(2))
    for at in range(count):
        traded = np.flatnonzero(np.isfinite(prices.close[:, at]))
        days = np.full(len(traded), at)
        found = forward_returns(prices, benchmark, codes[traded], days, hold=hold, ranges=False)
        change[at, traded] = found.profit_pct
        excess[at, traded] = found.excess_pct
        unfillable[at, traded] = found.unfillable
        settled[at, traded] = found.status != PENDING
    return Followed(prices.codes, prices.dates[:count], change, excess, unfillable, settled)


def outcomes(window: Followed, hits: Sequence[tuple[str, str]], *, direction: int) -> list[Outcome]:
    """Outcomes of each settled (code, date), in the order of the dates."""
    place = {code: at for at, code in enumerate(window.codes)}
    column = {day: at for at, day in enumerate(window.dates)}
    by_day: dict[str, list[int]] = {}
    for code, day in hits:
        if code in place and day in column:
            by_day.setdefault(day, []).append(place[code])
    found: list[Outcome] = []
    for day, rows in sorted(by_day.items()):
        windows = (window.change, window.excess, window.unfillable, window.settled)
        changes, excess, unfillable, settled = (one[column[day]] for one in windows)
        base = float(np.mean(changes[settled] * direction > 0) * 100) if settled.any() else np.nan
        found += [
            Outcome(day, float(changes[row]), float(excess[row]), base, bool(unfillable[row]))
            for row in rows
            if settled[row]
        ]
    return found


def summary(found: Sequence[Outcome], direction: int) -> dict[str, Any]:
    """Figures of the outcomes, percent; of none: zero samples and None. Shares are of all of them, everything
    else of those with a return. `fillable` has them without those that could not have been bought."""
    changes = np.array([one.change for one in found], dtype=np.float64)
    known = changes[~np.isnan(changes)]
    years = np.array([one.date[:4] for one in found], dtype="<U4")
    fillable = [one for one in found if not one.is_unfillable]
    return {
        **_figures(found, direction),
        "dates": len({one.date for one in found}),
        "median_pct": _rounded(np.median(known)) if len(known) else None,
        "base_rate_pct": _mean([one.base_rate for one in found]),
        "best_pct": _rounded(known.max()) if len(known) else None,
        "worst_pct": _rounded(known.min()) if len(known) else None,
        "unfillable": len(found) - len(fillable),
        "fillable": _figures(fillable, direction),
        "by_year": [
            {
                "year": int(year),
                "samples": int((years == year).sum()),
                "win_rate_pct": _mean((changes[years == year] * direction > 0) * 100.0),
                "avg_pct": _mean(changes[years == year]),
            }
            for year in sorted(set(years.tolist()))
        ],
    }


def _figures(found: Sequence[Outcome], direction: int) -> dict[str, Any]:
    return {
        "samples": len(found),
        "win_rate_pct": _mean([100.0 * (one.change * direction > 0) for one in found]),
        "avg_pct": _mean([one.change for one in found]),
        "excess_pct": _mean([one.excess for one in found]),
    }


def _mean(values: npt.ArrayLike) -> float | None:
    """Mean of the known values; None without any."""
    reported = np.asarray(values, dtype=np.float64)
    known = reported[~np.isnan(reported)]
    return _rounded(known.mean()) if len(known) else None


def _rounded(value: Any) -> float:
    return round(float(value), 4)
