"""SQL of the strength reads. Every function takes a Session first."""

import numpy as np

from core.arrays import Floats, Ints
from core.market.bars import Bars
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import newest_date
from serving_api.stocks.queries import INDUSTRY, KLINE, MASTER

INDEX = "fusion_index_daily"
TABLES = (KLINE, INDEX, MASTER, INDUSTRY)


def newest_day(session: Session) -> str | None:
    """The newest trade date of the stored bars."""
    return newest_date(session, session.table(KLINE), None) if session.has(KLINE) else None


def market_bars(session: Session, since: str, until: str) -> Bars:
    """Close and factor of every stock that traded; no other prices."""
    traded = "sec_type='stock' AND (is_suspended IS NULL OR is_suspended=0)"
    if not session.has(KLINE):
        return Bars.empty()
    return Bars.from_dense(
        session.panel(KLINE, ("close", "adj_factor"), since=since, until=until, extra=traded)
    )


def index_closes(session: Session, symbol: str, since: str, until: str) -> tuple[Ints, Floats]:
    """(dates as yyyymmdd, closes), oldest first."""
    rows = session.rows(
        INDEX, {"code": symbol, "date>=": since, "date<=": until}, columns=("date", "close"), order="date"
    )
    days = np.array([int(str(day).replace("-", "")) for day, _ in rows], dtype=np.int64)
    return days, np.array([close for _, close in rows], dtype=np.float64)


def names_and_industries(session: Session) -> tuple[dict[str, str], dict[str, str]]:
    """(code -> name, code -> industry)."""
    names = dict(session.rows(MASTER, columns=("code", "name")))
    return names, dict(session.rows(INDUSTRY, columns=("code", "industry")))
