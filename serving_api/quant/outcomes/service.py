"""Outcomes of picks from stored bars."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from core.calendar import TradeCalendar
from core.days import moved
from platform_assets.compute.loaded import known_dates
from platform_assets.compute.parameters.loading import NEIGHBOURS
from platform_assets.compute.parameters.scorecards import HOLD_DAYS, WAIT_DAYS
from platform_assets.compute.scorecards.forward import Outcomes, outcomes_of
from platform_assets.compute.scorecards.prices import Prices
from serving_api.db.sessions import Session
from serving_api.quant.outcomes import queries

Bools = npt.NDArray[np.bool_]
Hit = tuple[str, str]
"""(trade date, code)"""


def loaded(session: Session, dates: Sequence[str]) -> Bools:
    """[dates] whether the market's bars of a date are stored, compared with its neighbours in these
    ascending dates."""
    counts = queries.stock_bars(session, dates)
    return known_dates([counts.get(day, 0) for day in dates])


def loaded_days(session: Session, calendar: TradeCalendar, days: Iterable[str]) -> set[str]:
    """The trade dates whose market bars are stored, compared with their neighbours."""
    requested = set(days)
    near: set[str] = set()
    for day in requested:
        near |= {*calendar.last(NEIGHBOURS + 1, day), *calendar.between(day, moved(day, 2 * NEIGHBOURS))}
    dates = sorted(near)
    return {day for day, is_there in zip(dates, loaded(session, dates), strict=True) if is_there} & requested


def outcomes(
    session: Session, calendar: TradeCalendar, hits: Sequence[Hit], *, market: bool = False
) -> tuple[tuple[str, ...], Outcomes]:
    """(the dates that the indexes of the outcomes refer to, the outcomes of hits); at least one hit.

    `market` reads the bars of the whole market at once, without price ranges: for more hits than codes
    fit into a query.
    """
    first, last = min(day for day, _ in hits), max(day for day, _ in hits)
    newest = queries.newest_bar(session)
    dates = calendar.between(first, max(newest or last, last))
    picked = {day: at for at, day in enumerate(dates)}
    dates = dates[: picked[last] + WAIT_DAYS + 1]
    # Only the dates whose bars matter, and the newest ones: counting a year of the market takes a while.
    needed = {at for day, _ in hits for at in range(picked[day], picked[day] + HOLD_DAYS + 1)}
    needed |= set(range(len(dates) - NEIGHBOURS, len(dates)))
    places = sorted(at for at in needed if 0 <= at < len(dates))
    known = np.zeros(len(dates), dtype=bool)
    known[places] = loaded(session, [dates[at] for at in places])
    if market and newest is not None:
        end = dates[min(picked[last] + HOLD_DAYS, len(dates) - 1)]
        prices = Prices.from_dense(queries.returns(session, dates[0], end), dates, known)
    else:
        bars = queries.bars(session, sorted({code for _, code in hits}), dates)
        prices = Prices.from_frame(bars, dates, known)
    return prices.dates, outcomes_of(prices, queries.benchmark(session, dates), hits)
