"""Predictive power of a factor: rank correlation of its scores with the returns that followed, date by
date."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import average_ranks
from platform_assets.compute.parameters.factors import IC_FEWEST_CODES, IC_GROUPS


@dataclass(frozen=True)
class FactorIc:
    """Over the dates that have a correlation; None where nothing can be said."""

    days: int
    ic_mean: float | None
    ic_std: float | None
    """sample deviation over the dates"""
    ir: float | None
    """mean / deviation"""
    t_stat: float | None
    """mean / its standard error by Newey and West, which overlapping windows of returns do not shrink"""
    t_stat_simple: float | None
    """ir * sqrt(days): too large where windows of returns overlap"""
    positive_rate: float | None
    """share of the dates with a correlation above 0"""
    quintile_spread_pct: float | None
    """mean over the dates of (return of the best fifth - return of the worst fifth), percent"""
    coverage: float | None
    """share of the (date, code) cells with a return that also have a score"""


def factor_ic(scores: Floats, returns: Floats, window: int) -> FactorIc:
    """IC figures of scores [dates, codes] and the returns in percent [dates, codes] of the `window` dates
    that followed, NaN where missing. A date with fewer than 20 codes that have both, or with equal scores or
    returns, does not count."""
    followed = np.isfinite(returns)
    cells = int(followed.sum())
    both = followed & np.isfinite(scores)
    found = [
        (correlation(scores[day, both[day]], returns[day, both[day]]), day)
        for day in range(len(scores))
        if both[day].sum() >= IC_FEWEST_CODES
    ]
    reported = [(ic, day) for ic, day in found if ic is not None]
    ics = np.array([ic for ic, _ in reported])
    spreads = [spread(scores[day, both[day]], returns[day, both[day]]) for _, day in reported]
    known = [one for one in spreads if one is not None]
    days = len(ics)
    mean = float(ics.mean()) if days else None
    std = float(ics.std(ddof=1)) if days > 1 else None
    ir = mean / std if mean is not None and std else None
    return FactorIc(
        days=days,
        ic_mean=mean,
        ic_std=std,
        ir=ir,
        t_stat=robust_t(ics, lags_of(days, window)),
        t_stat_simple=None if ir is None else ir * days**0.5,
        positive_rate=float((ics > 0).mean()) if days else None,
        quintile_spread_pct=float(np.mean(known)) if known else None,
        coverage=float(both.sum() / cells) if cells else None,
    )


def lags_of(days: int, window: int) -> int:
    """Lags over which the correlations of `days` dates hang together: those whose windows overlap, at least
    as many as Newey and West's rule of thumb takes, 4 (days / 100) ^ (2 / 9)."""
    rule = int(4 * (days / 100) ** (2 / 9))
    return max(0, min(max(window - 1, rule), days - 1))


def robust_t(values: Floats, lags: int) -> float | None:
    """Mean over its standard error, robust to heteroscedasticity and to autocorrelation up to `lags` (Newey
    and West, weights of Bartlett). None where nothing varies."""
    if len(values) < 2 or not float(values.std()):
        return None
    deviations = values - values.mean()
    products = [float(deviations[lag:] @ deviations[: len(values) - lag]) for lag in range(lags + 1)]
    weights = [1 - lag / (lags + 1) for lag in range(1, lags + 1)]
    variance = products[0] + 2 * sum(w * product for w, product in zip(weights, products[1:], strict=True))
    return float(values.mean()) * len(values) / variance**0.5 if variance > 0 else None


def correlation(one: Floats, other: Floats) -> float | None:
    """Spearman's: Pearson's of the mean ranks. None where all values of a side are equal."""
    ranks = [average_ranks(values)[0] for values in (one, other)]
    a, b = (rank - rank.mean() for rank in ranks)
    length = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / length if length > 0 else None


def spread(scores: Floats, returns: Floats) -> float | None:
    """Mean return of the fifth with the highest scores minus that of the fifth with the lowest; None where
    ties leave one of them empty."""
    rank, count = average_ranks(scores)
    place = rank / count
    top, bottom = place > 1 - 1 / IC_GROUPS, place <= 1 / IC_GROUPS
    if not top.any() or not bottom.any():
        return None
    return float(returns[top].mean() - returns[bottom].mean())
