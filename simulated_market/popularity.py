"""Popularity of the stocks of a synthetic market, from their turnover and moves. A replayed market has
none."""

from dataclasses import dataclass

import numpy as np

from simulated_market.limits import LimitBook, LimitState, newest_session
from simulated_market.wire import View

MOST = 100


@dataclass(frozen=True)
class Looked:
    """`rank` from 1, `rose` places since the session before (0 for one that was not there)."""

    state: LimitState
    rank: int
    rose: int
    heat: float


def ranking(book: LimitBook, view: View, weight: float) -> list[Looked]:
    """The newest session's hundred, best first. `weight` of a percent of change against the amount: two
    sites rank differently."""
    if view.world.label != "sample":
        return []
    day = newest_session(view)
    dates = view.world.trade_dates()
    at = int(np.searchsorted(dates, day))
    if not day:
        return []
    before = _ranked(book.of_date(view, int(dates[at - 1])), weight) if at else []
    places = {one.security.symbol: place for place, (_, one) in enumerate(before, start=1)}
    return [
        Looked(one, rank, places.get(one.security.symbol, rank) - rank, heat)
        for rank, (heat, one) in enumerate(_ranked(book.of_date(view, day), weight)[:MOST], start=1)
    ]


def _ranked(standings: list[LimitState], weight: float) -> list[tuple[float, LimitState]]:
    rated = [
        (round(one.quote.amount * (1 + weight * abs(one.change_pct)) / 1e3, 1), one) for one in standings
    ]
    return sorted(rated, key=lambda pair: (-pair[0], pair[1].security.code))
