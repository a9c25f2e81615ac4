"""SQL over sys_config."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session

TABLE = "sys_config"


def stored(session: Session) -> dict[str, dict[str, Any]]:
    """Rows by key."""
    columns = ("config_key", "value", "updated_at")
    return {str(row["config_key"]): row for row in session.dicts(TABLE, columns=columns)}


def values_to_change(connection: Connection, sql: Sql, keys: Sequence[str]) -> dict[str, str]:
    """Value by key, locked until the transaction ends."""
    lock = "" if sql.sqlite else " FOR UPDATE"
    marks = ", ".join("?" for _ in keys)
    statement = f"SELECT config_key, value FROM {TABLE} WHERE config_key IN ({marks}){lock}"
    rows = connection.exec_driver_sql(sql.text(statement), tuple(keys))
    return {str(key): str(value) for key, value in rows if value is not None}


def put(connection: Connection, sql: Sql, key: str, values: Mapping[str, Any], now: str) -> str | None:
    """Store a row; returns the value that it replaces, or None."""
    before = connection.exec_driver_sql(
        sql.text(f"SELECT value FROM {TABLE} WHERE config_key=?"), (key,)
    ).first()
    named = {**values, "updated_at": now}
    if before is None:
        named = {"config_key": key, **named, "created_at": now}
        connection.exec_driver_sql(sql.insert(TABLE, list(named)), tuple(named.values()))
        return None
    sets = ", ".join(f"{sql.name(column)}=?" for column in named)
    connection.exec_driver_sql(
        sql.text(f"UPDATE {TABLE} SET {sets} WHERE config_key=?"), (*named.values(), key)
    )
    return None if before[0] is None else str(before[0])
