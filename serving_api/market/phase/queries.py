"""SQL of the market's phase. Every function takes a Session first."""

from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

LIMITS = "calc_limit_count"
PHASES = "calc_market_phase"


def since(session: Session, table: str, day: str) -> list[Row]:
    """Rows of a whole-market table from a date on, oldest first."""
    return public_rows(session, table, where="trade_date>=?", values=(day,), order="trade_date")


def newest(session: Session) -> Row | None:
    """The newest phase."""
    rows = public_rows(session, PHASES, order="trade_date DESC", limit=1)
    return rows[0] if rows else None
