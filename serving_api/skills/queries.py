"""SQL over app_skill: changes to the shipped skills, and installed ones."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from resources.warehouse.stored import delete, select, stored
from resources.warehouse.table_versions import count_change
from serving_api.db.sessions import Session

TABLE = stored("app_skill")
_COLUMNS = ("skill_key", "enabled", "definition_json")
Row = tuple[bool, str | None]
"""(on, definition as JSON; None: a shipped skill)."""


def changes(session: Session) -> dict[str, Row]:
    """Rows by key."""
    return {key: (bool(on), text) for key, on, text in session.rows(TABLE, columns=_COLUMNS)}


def stored_to_change(connection: Connection, sql: Sql) -> dict[str, Row]:
    """`changes`, inside a write transaction that has locked the table's version."""
    rows = connection.execute(select(TABLE, *(TABLE.c[name] for name in _COLUMNS)))
    return {str(key): (bool(on), text) for key, on, text in rows}


def put(connection: Connection, sql: Sql, key: str, values: Mapping[str, Any], now: str) -> None:
    """Insert or change a row."""
    connection.exec_driver_sql(sql.insert_absent(TABLE, ("skill_key", "created_at")), (key, now))
    named = {"skill_key": key, **values, "updated_at": now}
    connection.exec_driver_sql(sql.upsert(TABLE, list(named), ("skill_key",)), tuple(named.values()))
    count_change(sql, connection, TABLE)


def remove(connection: Connection, sql: Sql, key: str) -> None:
    connection.execute(delete(TABLE, TABLE.c.skill_key == key))
    count_change(sql, connection, TABLE)
