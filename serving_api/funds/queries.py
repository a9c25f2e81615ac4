"""SQL of the fund reads. Every function takes a Session first; `as_of` is the bound instant, or None."""

from typing import Any

from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, newest
from serving_api.stocks import queries as stocks
from serving_api.stocks.bars import adjusted
from serving_api.table_lists.listing import listing

REIT = "raw_reit"
ETF = "raw_fund_etf"
KINDS = ("etf", "lof")
_ALL = 100_000


def reits(session: Session, sort: str) -> dict[str, Any]:
    """Every REIT of the newest date."""
    return listing(session, REIT, None, sort=sort, page_size=_ALL)


def reit(session: Session, code: str) -> Row:
    """The newest row; {} for an unknown code."""
    return (newest(session, session.table(REIT), code, None) or {}) if session.has(REIT) else {}


def reit_history(session: Session, code: str, days: int, adjust: str, as_of: str | None) -> list[Row]:
    """Bars of a REIT with the premium where one is stored, oldest first; [] for any other code."""
    if not reit(session, code):
        return []
    reported = dict(
        session.rows(
            REIT,
            columns=("trade_date", "premium_pct"),
            where="code=?",
            values=(code,),
            order="trade_date DESC",
            limit=days,
        )
    )
    bars = adjusted(stocks.bars(session, code, days, as_of), adjust)
    return [{**bar, "premium_pct": reported.get(bar["date"])} for bar in bars]


def first_of_reit(session: Session, code: str) -> str | None:
    """The first stored bar of a REIT; None for any other code."""
    return first_date(session, stocks.KLINE, code) if reit(session, code) else None


def fund_bars(
    session: Session, code: str, days: int, adjust: str, as_of: str | None
) -> tuple[str | None, list[Row], bool]:
    """(name, bars oldest first, True) of an ETF or LOF; (None, [], False) for any other code."""
    master = stocks.master(session, code, as_of)
    listed = newest(session, session.table(ETF), code, None) if session.has(ETF) and as_of is None else None
    if master.get("sec_type") not in KINDS and listed is None:
        return None, [], False
    name = master.get("name") or (listed or {}).get("name")
    return name, adjusted(stocks.bars(session, code, days, as_of), adjust), True
