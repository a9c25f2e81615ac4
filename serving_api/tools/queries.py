"""SQL of the tools: the newest batch of a table, the caller's list."""

from collections.abc import Sequence
from typing import Any

from serving_api.datasets.portfolio.queries import SHARED, TABLE
from serving_api.db.sessions import Session
from serving_api.stocks.queries import newest_quotes

Row = dict[str, Any]
VERSIONS = "table_version"


def last_batches(session: Session, tables: Sequence[str]) -> list[tuple[str, str | None, str | None]]:
    """(table, its newest batch, when that was written) of tables with rows."""
    marks = ", ".join("?" for _ in tables)
    rows = session.rows(
        VERSIONS,
        columns=("table_name", "last_batch_id", "updated_at"),
        where=f"table_name IN ({marks}) AND row_count>0",
        values=tuple(tables),
        order="table_name",
    )
    return [(str(name), batch, at) for name, batch, at in rows]


def filled_tables(session: Session) -> dict[str, tuple[str | None, int]]:
    """Table -> (its newest date, its rows)."""
    rows = session.rows(VERSIONS, columns=("table_name", "latest_date", "row_count"))
    return {str(name): (day, int(count or 0)) for name, day, count in rows}


def watched(session: Session, user_id: int, shared: bool) -> tuple[list[Row], dict[str, Row]]:
    """(rows of a user's own list, and of the shared one for administrators; newest quote by code)."""
    owners = (user_id, SHARED) if shared else (user_id,)
    rows = session.dicts(
        TABLE,
        where=f"user_id IN ({', '.join('?' for _ in owners)}) AND is_active=1",
        values=owners,
        order="user_id DESC, sort_no, code",
    )
    quotes = newest_quotes(session, [row["code"] for row in rows])
    return rows, {quote["code"]: quote for quote in quotes}
