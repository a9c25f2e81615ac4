"""SQL over mcp_server."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from resources.warehouse.stored import delete, select, stored
from serving_api.db.sessions import Session

TABLE = stored("mcp_server")
_COLUMNS = ("name", "url", "transport", "enabled", "headers_sealed", "sort_no")


def servers(session: Session, user_id: int) -> list[dict[str, Any]]:
    """A user's servers in their order."""
    return session.dicts(
        TABLE, TABLE.c.user_id == user_id, columns=_COLUMNS, order=[TABLE.c.sort_no, TABLE.c.name]
    )


def sealed_headers(connection: Connection, sql: Sql, user_id: int) -> dict[str, str]:
    """Name -> sealed headers, locked until the transaction ends."""
    c = TABLE.c
    own = select(TABLE, c.name, c.headers_sealed).where(c.user_id == user_id)
    rows = connection.execute(own.with_for_update())
    return {str(name): str(sealed) for name, sealed in rows if sealed}


def replace(
    connection: Connection, sql: Sql, user_id: int, rows: Sequence[Mapping[str, Any]], now: str
) -> None:
    """Replace the user's servers."""
    connection.execute(delete(TABLE, TABLE.c.user_id == user_id))
    if rows:
        connection.exec_driver_sql(
            sql.insert(TABLE, ("user_id", *_COLUMNS, "created_at", "updated_at")),
            [(user_id, *(row[name] for name in _COLUMNS), now, now) for row in rows],
        )
