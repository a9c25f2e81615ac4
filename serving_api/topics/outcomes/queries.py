"""What became of picks by the bars that are stored."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from platform_assets.compute.days import known_dates, moved
from platform_assets.compute.parameters.loading import NEIGHBOURS
from platform_assets.compute.parameters.scorecards import BENCHMARK, HOLD_DAYS, WAIT_DAYS
from platform_assets.compute.scorecards.forward import Outcomes, outcomes_of
from platform_assets.compute.scorecards.prices import COLUMNS, Benchmark, Prices
from resources.calendar import TradeCalendar
from serving_api.catalog.queries import newest_date
from serving_api.reading import Session, code_clauses

BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
_TRADED = "is_suspended IS NULL OR is_suspended=0"
_RETURNS = ("open", "close", "adj_factor", "limit_up")
"""What a return takes; the range of the holding takes all of `COLUMNS`."""
Bools = npt.NDArray[np.bool_]
Hit = tuple[str, str]
"""(trade date, code)"""


def changes_of(session: Session, codes: Sequence[str], day: str) -> dict[str, float | None]:
    """Code -> percent that it moved on a date."""
    columns = ("code", "change_pct")
    return dict(session.of_codes(BARS, codes, columns=columns, where="date=?", values=(day,)))


def loaded(session: Session, dates: Sequence[str]) -> Bools:
    """[dates] whether the market's bars of a date are stored, judged among these dates, which ascend."""
    counts: dict[str, int] = {}
    for where, some in code_clauses(dates if session.has(BARS) else (), "date"):
        found = session.run(f"SELECT date, COUNT(*) FROM {BARS} WHERE {where} GROUP BY date", some)
        counts |= {str(day): int(count) for day, count in found}
    return known_dates([counts.get(day, 0) for day in dates])


def loaded_days(session: Session, calendar: TradeCalendar, days: Iterable[str]) -> set[str]:
    """Those of some trade dates whose market's bars are stored, judged beside their neighbours."""
    wanted = set(days)
    near: set[str] = set()
    for day in wanted:
        near |= {*calendar.last(NEIGHBOURS + 1, day), *calendar.between(day, moved(day, 2 * NEIGHBOURS))}
    dates = sorted(near)
    return {day for day, is_there in zip(dates, loaded(session, dates), strict=True) if is_there} & wanted


def outcomes(
    session: Session, calendar: TradeCalendar, hits: Sequence[Hit], *, market: bool = False
) -> tuple[tuple[str, ...], Outcomes]:
    """(dates that the places of the outcomes mean, what became of hits); at least one hit.

    `market` reads the whole market's bars at once, without the range of the holdings: for more hits than
    codes can be asked for.
    """
    first, last = min(day for day, _ in hits), max(day for day, _ in hits)
    newest = newest_date(session, session.table(BARS), None) if session.has(BARS) else None
    dates = calendar.between(first, max(newest or last, last))
    picked = {day: at for at, day in enumerate(dates)}
    dates = dates[: picked[last] + WAIT_DAYS + 1]
    # The dates whose bars decide, and the newest ones: counting a year of the market takes a while.
    needed = {at for day, _ in hits for at in range(picked[day], picked[day] + HOLD_DAYS + 1)}
    needed |= set(range(len(dates) - NEIGHBOURS, len(dates)))
    places = sorted(at for at in needed if 0 <= at < len(dates))
    known = np.zeros(len(dates), dtype=bool)
    known[places] = loaded(session, [dates[at] for at in places])
    if market and newest is not None:
        end = dates[min(picked[last] + HOLD_DAYS, len(dates) - 1)]
        panel = session.panel(BARS, _RETURNS, since=dates[0], until=end, extra=_TRADED)
        prices = Prices.from_dense(panel, dates, known)
    else:
        prices = Prices.from_frame(_bars(session, sorted({code for _, code in hits}), dates), dates, known)
    return prices.dates, outcomes_of(prices, _benchmark(session, dates), hits)


def _bars(session: Session, codes: Sequence[str], dates: Sequence[str]) -> pd.DataFrame:
    columns = ("code", "date", *COLUMNS, "is_suspended")
    where, values = "date>=? AND date<=?", (dates[0], dates[-1])
    rows = session.of_codes(BARS, codes, columns=columns, where=where, values=values)
    return pd.DataFrame(rows, columns=list(columns))


def _benchmark(session: Session, dates: Sequence[str]) -> Benchmark:
    where, values = "code=? AND date>=? AND date<=?", (BENCHMARK, dates[0], dates[-1])
    rows = session.rows(INDEX, columns=("date", "open", "close"), where=where, values=values)
    return Benchmark.of({str(day): (opened, closed) for day, opened, closed in rows}, dates)
