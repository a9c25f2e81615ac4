"""SQL over app_users. Times are ISO text of local exchange time by the machine's clock."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import ConflictError
from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session
from serving_api.framework.user import User

TABLE = "app_users"
# Conditions are written out here: in the short form of `Session` a missing value means any row.


def user_by_id(session: Session, user_id: int) -> User | None:
    found = session.dicts(TABLE, where="id=?", values=(user_id,))
    return User.of(found[0]) if found else None


def credentials(session: Session, username: str) -> tuple[User, str] | None:
    """The user of a name, with the password hash."""
    return _with_hash(session.dicts(TABLE, where="username=?", values=(username,)))


def credentials_by_id(session: Session, user_id: int) -> tuple[User, str] | None:
    return _with_hash(session.dicts(TABLE, where="id=?", values=(user_id,)))


def _with_hash(found: list[dict[str, Any]]) -> tuple[User, str] | None:
    return (User.of(found[0]), str(found[0]["password_hash"] or "")) if found else None


def insert_user(connection: Connection, sql: Sql, values: Mapping[str, Any]) -> int:
    """Insert a user; returns the id. Raises ConflictError when name or address is taken (in any case)."""
    _refuse_taken(connection, sql, values, own_id=None)
    try:
        inserted = connection.exec_driver_sql(sql.insert(TABLE, list(values)), tuple(values.values()))
    except sa.exc.IntegrityError:
        # Of two registrations at the same time the unique keys decide.
        raise ConflictError("用户名或邮箱已被使用") from None
    return int(inserted.lastrowid)


def update_user(connection: Connection, sql: Sql, user_id: int, values: Mapping[str, Any]) -> None:
    """Set columns of one user. Raises ConflictError as `insert_user` does."""
    _refuse_taken(connection, sql, values, own_id=user_id)
    try:
        sql.set(connection, TABLE, values, "id=?", (user_id,))
    except sa.exc.IntegrityError:
        raise ConflictError("用户名或邮箱已被使用") from None


def change_password(connection: Connection, sql: Sql, user_id: int, made: str, now: str) -> None:
    """Set the hash of a new password; tokens of the old one become invalid."""
    sql.run(
        connection,
        f"UPDATE {TABLE} SET password_hash=?, updated_at=?, "
        "token_generation=COALESCE(token_generation, 0)+1 WHERE id=?",
        (made, now, user_id),
    )


def _refuse_taken(connection: Connection, sql: Sql, values: Mapping[str, Any], own_id: int | None) -> None:
    for column, title in (("username", "用户名"), ("email", "邮箱")):
        if column not in values:
            continue
        taken = f"SELECT id FROM {TABLE} WHERE LOWER({column})=LOWER(?)"
        found = sql.run(connection, taken, (values[column],)).scalars()
        if any(int(other) != own_id for other in found):
            raise ConflictError(f"{title}已被使用")


def count_call(connection: Connection, sql: Sql, user_id: int, today: str, limit: int) -> bool:
    """Count one AI call of `today` when fewer than `limit` were made; False when the limit is reached. The
    count is set before the date: MariaDB evaluates assignments from left to right."""
    done = sql.run(
        connection,
        f"UPDATE {TABLE} SET ai_usage_count=CASE WHEN ai_usage_date=? "
        "THEN COALESCE(ai_usage_count, 0)+1 ELSE 1 END, ai_usage_date=? "
        "WHERE id=? AND (ai_usage_date IS NULL OR ai_usage_date<>? OR COALESCE(ai_usage_count, 0)<?)",
        (today, today, user_id, today, limit),
    )
    return done.rowcount == 1
