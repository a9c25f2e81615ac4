"""Predictive power of factors: inputs of many dates from stored series, ranked within the requested codes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from core.arrays import Floats
from core.calendar import TradeCalendar
from platform_assets.compute.factors.definitions import FACTORS
from platform_assets.compute.factors.history import YEAR, scores_by_date
from platform_assets.compute.factors.ic import factor_ic, lags_of
from platform_assets.compute.parameters.factors import IC_FEWEST_CODES
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.quant.factors import queries
from serving_api.quant.factors.grids import Grid, inputs_of

_DIGITS = 6


def bench(
    session: Session, calendar: TradeCalendar, codes: Sequence[str], forward_days: int, lookback_days: int
) -> dict[str, Any]:
    """The answer of the benchmark."""
    newest = newest_of(session, queries.KLINE)
    if newest is None:
        return unknown(forward_days)
    dates = calendar.last(YEAR + lookback_days + forward_days, newest)
    grid = Grid(dates, sorted(codes))
    since = dates[-lookback_days - forward_days :][0]
    inputs, traded, history = inputs_of(session, grid, since)
    window = slice(-lookback_days - forward_days, -forward_days)
    scores = scores_by_date({name: one[window] for name, one in inputs.items()}, traded[window])
    returns = np.where(traded, history.following(forward_days), np.nan)[window]
    days = int((np.isfinite(returns).sum(axis=1) >= IC_FEWEST_CODES).sum())
    return answer(forward_days, days, scores, returns)


def unknown(forward_days: int) -> dict[str, Any]:
    """The answer where nothing is stored."""
    return answer(forward_days, 0, {}, np.empty((0, 0)))


def answer(forward_days: int, days: int, scores: Mapping[str, Floats], returns: Floats) -> dict[str, Any]:
    """The newest `days` dates on which at least twenty codes have a return."""
    items = []
    for factor in FACTORS:
        reported = factor_ic(scores.get(factor.key, np.full(returns.shape, np.nan)), returns, forward_days)
        figures = {
            name: round(value, _DIGITS) if isinstance(value, float) else value
            for name, value in asdict(reported).items()
        }
        items.append({"key": factor.key, "label": factor.label, **figures})
    lags = lags_of(days, forward_days)
    return {
        "forward_days": forward_days,
        "sample_days": days,
        "lags": lags,
        "note": _note(forward_days, lags),
        "items": items,
        "total": len(items),
    }


def _note(window: int, lags: int) -> str:
    reported = f"t_stat is Newey and West's with up to {lags} lags; t_stat_simple is ir * sqrt(days)"
    if window == 1:
        return f"{reported}, which takes the dates for independent."
    return (
        f"The returns of {window} sessions that follow one date and the next overlap, so the dates are not "
        f"independent: {reported}, which takes them for independent and is too large."
    )
