"""Outcomes of picks from stored bars."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import sqlalchemy as sa

from core.arrays import Bools
from core.calendar import TradeCalendar
from core.days import moved
from core.declaration.conditions import Condition, not_set
from platform_assets.compute.loaded import known_dates
from platform_assets.compute.parameters.loading import NEIGHBOURS
from platform_assets.compute.parameters.scorecards import BENCHMARK, HOLD_DAYS, WAIT_DAYS
from platform_assets.compute.scorecards.forward import Outcomes, outcomes_of
from platform_assets.compute.scorecards.prices import COLUMNS, Benchmark, Prices
from platform_assets.datasets.index_daily import IndexDaily
from platform_assets.datasets.kline_daily import KlineDaily
from resources.warehouse.panel import Panel
from resources.warehouse.stored import select, stored, within
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session, parts_of

BARS = stored("fusion_kline_daily", KlineDaily)
INDEX = stored("fusion_index_daily", IndexDaily)
_STOCKS = sa.func.substr(BARS.c.code, 1, 1).not_in(("1", "5"))
"""Codes of funds and bonds begin with these digits. The code is in the index of the dates; with a filter
on `sec_type` a count would read every row, which is many times slower."""


def day_changes(session: Session, codes: Sequence[str], day: str) -> dict[str, float | None]:
    """Code -> its change on a date, percent."""
    columns = ("code", "change_pct")
    return dict(session.of_codes(BARS, codes, BARS.c.date == day, columns=columns))


def stock_bars(session: Session, dates: Sequence[str]) -> dict[str, int]:
    """Date -> number of stored bars of stocks, including suspended ones; dates without bars are missing."""
    counts: dict[str, int] = {}
    counted = select(BARS, BARS.c.date, sa.func.count()).group_by(BARS.c.date)
    for part in parts_of(dates if session.has(BARS) else ()):
        rows = session.run(counted.where(BARS.c.date.in_(part), _STOCKS))
        counts |= {str(day): int(count) for day, count in rows}
    return counts


def returns(session: Session, since: str, until: str, *also: Condition) -> Panel:
    """Columns for returns of the whole market, of the days on which codes traded; the price range during the
    holding needs all of `COLUMNS`."""
    columns, traded = ("open", "close", "adj_factor", "limit_up"), not_set("is_suspended")
    return session.panel(BARS, columns, since=since, until=until, conditions=(*also, traded))


def bars_of(session: Session, codes: Sequence[str], dates: Sequence[str]) -> pd.DataFrame:
    columns = ("code", "date", *COLUMNS, "is_suspended")
    rows = session.of_codes(BARS, codes, *within(BARS.c.date, dates[0], dates[-1]), columns=columns)
    return pd.DataFrame(rows, columns=list(columns))


def benchmark(session: Session, dates: Sequence[str]) -> Benchmark:
    of = [INDEX.c.code == BENCHMARK, INDEX.c.date >= dates[0], INDEX.c.date <= dates[-1]]
    rows = session.rows(INDEX, *of, columns=("date", "open", "close"))
    return Benchmark.of({str(day): (opened, closed) for day, opened, closed in rows}, dates)


Hit = tuple[str, str]
"""(trade date, code)"""


def loaded(session: Session, dates: Sequence[str]) -> Bools:
    """[dates] whether the market's bars of a date are stored, compared with its neighbours in these
    ascending dates."""
    counts = stock_bars(session, dates)
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
    newest = newest_of(session, BARS)
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
        prices = Prices.from_dense(returns(session, dates[0], end), dates, known)
    else:
        bars = bars_of(session, sorted({code for _, code in hits}), dates)
        prices = Prices.from_frame(bars, dates, known)
    return prices.dates, outcomes_of(prices, benchmark(session, dates), hits)
