"""SQL of the pattern reads. Every function takes a Session first."""

from platform_assets.compute.pattern_performance import Window
from resources.warehouse.panel import read_panel
from resources.warehouse.warehouse import Warehouse
from serving_api.catalog.queries import newest_date
from serving_api.reading import Session

PATTERNS = "calc_pattern_daily"
BARS = "fusion_kline_daily"
INDICES = "fusion_index_daily"
BENCHMARK = "sh000300"
_STOCKS = "sec_type='stock'"


def newest_bar(session: Session) -> str | None:
    """The newest trade date with bars."""
    return newest_date(session, session.table(BARS), None) if session.has(BARS) else None


def hits(session: Session, pattern: str, direction: int, since: str, until: str) -> list[tuple[str, str]]:
    """(code, date) of every signal. `pattern` is a column of ours."""
    if not session.has(PATTERNS):
        return []
    where = f"date>=? AND date<=? AND {session.sql.name(pattern)}=?"
    rows = session.rows(PATTERNS, columns=("code", "date"), where=where, values=(since, until, direction))
    return [(str(code), str(day)) for code, day in rows]


def window(session: Session, warehouse: Warehouse, since: str, until: str) -> Window:
    """Closes of all stocks, and of the benchmark."""
    panel = read_panel(warehouse, BARS, ("close", "adj_factor"), since=since, until=until, extra=_STOCKS)
    index = session.rows(
        INDICES,
        columns=("date", "close"),
        where="code=? AND date>=? AND date<=?",
        values=(BENCHMARK, since, until),
    )
    closes = panel["close"] * panel["adj_factor"]
    return Window(panel.codes, panel.dates, closes, {str(day): float(close) for day, close in index})
