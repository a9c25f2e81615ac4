"""SQL of the outcomes of picks. Every function takes a Session first."""

from collections.abc import Sequence

import pandas as pd

from platform_assets.compute.parameters.scorecards import BENCHMARK
from platform_assets.compute.scorecards.prices import COLUMNS, Benchmark
from resources.warehouse.panel import Panel
from serving_api.db.sessions import Session, code_clauses
from serving_api.interfaces.queries import newest_date

BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
_STOCKS = "SUBSTR(code, 1, 1) NOT IN ('1', '5')"
"""Codes of funds and bonds begin with these digits. The code is in the index of the dates; with a filter
on `sec_type` a count would read every row, which is many times slower."""
_TRADED = "is_suspended IS NULL OR is_suspended=0"
_RETURNS = ("open", "close", "adj_factor", "limit_up")
"""Columns for a return; the price range during the holding needs all of `COLUMNS`."""


def day_changes(session: Session, codes: Sequence[str], day: str) -> dict[str, float | None]:
    """Code -> its change on a date, percent."""
    columns = ("code", "change_pct")
    return dict(session.of_codes(BARS, codes, columns=columns, where="date=?", values=(day,)))


def newest_bar(session: Session) -> str | None:
    """The newest trade date with a bar."""
    return newest_date(session, session.table(BARS), None) if session.has(BARS) else None


def stock_bars(session: Session, dates: Sequence[str]) -> dict[str, int]:
    """Date -> number of stored bars of stocks, including suspended ones; dates without bars are missing."""
    counts: dict[str, int] = {}
    for where, some in code_clauses(dates if session.has(BARS) else (), "date"):
        statement = f"SELECT date, COUNT(*) FROM {BARS} WHERE {where} AND {_STOCKS} GROUP BY date"
        counts |= {str(day): int(count) for day, count in session.run(statement, some)}
    return counts


def returns(session: Session, since: str, until: str) -> Panel:
    """Columns for returns of the whole market, of the days on which codes traded."""
    return session.panel(BARS, _RETURNS, since=since, until=until, extra=_TRADED)


def bars(session: Session, codes: Sequence[str], dates: Sequence[str]) -> pd.DataFrame:
    columns = ("code", "date", *COLUMNS, "is_suspended")
    where, values = "date>=? AND date<=?", (dates[0], dates[-1])
    rows = session.of_codes(BARS, codes, columns=columns, where=where, values=values)
    return pd.DataFrame(rows, columns=list(columns))


def benchmark(session: Session, dates: Sequence[str]) -> Benchmark:
    where, values = "code=? AND date>=? AND date<=?", (BENCHMARK, dates[0], dates[-1])
    rows = session.rows(INDEX, columns=("date", "open", "close"), where=where, values=values)
    return Benchmark.of({str(day): (opened, closed) for day, opened, closed in rows}, dates)
