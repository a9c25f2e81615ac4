"""SQL of index series. Every function takes a Session first."""

from serving_api.db.sessions import Session
from serving_api.interfaces.indices import INDICES, INDUSTRIES, indicators, table_of
from serving_api.interfaces.queries import Row, public_rows

__all__ = ["INDICES", "INDUSTRIES", "bars_since", "indicators", "table_of"]


def bars_since(session: Session, code: str, day: str) -> list[Row]:
    """Bars of an index from a day on, oldest first."""
    return public_rows(
        session,
        table_of(code),
        ("date", "name", "close", "change_pct"),
        where="code=? AND date>=?",
        values=(code, day),
        order="date",
    )
