"""SQL of the pattern reads. Every function takes a Session first."""

from collections.abc import Sequence

from platform_assets.compute.parameters.scorecards import BENCHMARK
from platform_assets.compute.scorecards.prices import Benchmark, Prices
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import newest_date

PATTERNS = "calc_pattern_daily"
BARS = "fusion_kline_daily"
INDICES = "fusion_index_daily"
_TRADED = "sec_type='stock' AND (is_suspended IS NULL OR is_suspended=0)"
_COLUMNS = ("open", "close", "adj_factor", "limit_up")
"""Columns for a return; the price range during the holding is not shown."""


def newest_bar(session: Session) -> str | None:
    """The newest trade date with bars."""
    return newest_date(session, session.table(BARS), None) if session.has(BARS) else None


def hits(session: Session, pattern: str, direction: int, since: str, until: str) -> list[tuple[str, str]]:
    """(code, date) of every signal. `pattern` is one of our column names."""
    if not session.has(PATTERNS):
        return []
    where = f"date>=? AND date<=? AND {session.sql.name(pattern)}=?"
    rows = session.rows(PATTERNS, columns=("code", "date"), where=where, values=(since, until, direction))
    return [(str(code), str(day)) for code, day in rows]


def prices(session: Session, dates: Sequence[str]) -> tuple[Prices, Benchmark]:
    """Bars of all stocks on the days on which they traded, and of the benchmark."""
    panel = session.panel(BARS, _COLUMNS, since=dates[0], until=dates[-1], extra=_TRADED)
    index = session.rows(
        INDICES,
        columns=("date", "open", "close"),
        where="code=? AND date>=? AND date<=?",
        values=(BENCHMARK, dates[0], dates[-1]),
    )
    bars = {str(day): (opened, closed) for day, opened, closed in index}
    return Prices.from_dense(panel, dates), Benchmark.of(bars, dates)
