"""SQL of the index reads. Every function takes a Session first."""

from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.indices import MEMBERS, members, weights
from serving_api.interfaces.queries import Row, public_rows

VALUATION = "raw_index_valuation"
RATIOS = ("date", "pe", "pe_ttm", "pb", "dividend_yield", "pe_pct_10y", "pb_pct_10y")
_WEIGHED = 20_000

__all__ = ["MEMBERS", "RATIOS", "VALUATION", "members", "valuation", "weighted"]


def valuation(session: Session, index_code: str, days: int) -> list[Row]:
    """The newest dates of an index, oldest first."""
    rows = public_rows(
        session, VALUATION, where="index_code=?", values=(index_code,), order="date DESC", limit=days
    )
    return rows[::-1]


def weighted(session: Session, index_code: str, limit: int) -> tuple[list[Row], int, Any]:
    """(the heaviest members, number of all of them, name of the index)."""
    rows = weights(session, index_code, _WEIGHED)
    return rows[:limit], len(rows), rows[0]["index_name"] if rows else None
