"""SQL over portfolio_stock. User id 0 holds the shared list."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from resources.warehouse.stored import select, stored
from resources.warehouse.table_versions import count_change
from serving_api.db.sessions import Session
from serving_api.stocks.queries import QUOTE, newest_quotes

TABLE = stored("portfolio_stock")
SHARED = 0
TABLES = (TABLE, QUOTE)


def stocks_of(
    session: Session, owners: Sequence[int]
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """(rows of the lists of some users in their order, the shared one last; newest quote by code)."""
    of = [TABLE.c.user_id.in_(owners), TABLE.c.is_active == 1]
    order = [TABLE.c.user_id.desc(), TABLE.c.sort_no, TABLE.c.code]
    rows = session.dicts(TABLE, *of, order=order)
    quotes = newest_quotes(session, [row["code"] for row in rows])
    return rows, {quote["code"]: quote for quote in quotes}


def save(
    connection: Connection, sql: Sql, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], now: str
) -> None:
    """Insert or update rows of the shared list; columns that are not given keep their values. New rows are
    appended in the given order."""
    if not rows:
        return
    last = (
        connection.scalar(select(TABLE, sa.func.max(TABLE.c.sort_no)).where(TABLE.c.user_id == SHARED)) or 0
    )
    connection.exec_driver_sql(
        sql.insert_absent(TABLE, ("user_id", "code", "sort_no", "created_at")),
        [(SHARED, row["code"], int(last) + place, now) for place, row in enumerate(rows, start=1)],
    )
    others = [name for name in columns if name != "code"]
    names = ("user_id", "code", *others, "is_active", "updated_at")
    connection.exec_driver_sql(
        sql.upsert(TABLE, names, ("user_id", "code")),
        [(SHARED, row["code"], *(row[name] for name in others), 1, now) for row in rows],
    )
    count_change(sql, connection, TABLE)
