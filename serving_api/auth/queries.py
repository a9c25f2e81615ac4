"""SQL over app_users. Times are ISO text of local exchange time by the machine's clock."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import ConflictError, NotFound
from resources.warehouse.sql import Sql
from resources.warehouse.stored import select, stored, update
from serving_api.db.sessions import Session
from serving_api.framework.user import ACTIVE, ADMIN, User

TABLE = stored("app_users")
# Conditions are written out here: in the short form of `Session` a missing value means any row.


def user_by_id(session: Session, user_id: int) -> User | None:
    found = session.dicts(TABLE, TABLE.c.id == user_id)
    return User.of(found[0]) if found else None


def credentials(session: Session, username: str) -> tuple[User, str] | None:
    """The user of a name in any case, as names are unique in any case, with the password hash."""
    return _with_hash(session.dicts(TABLE, sa.func.lower(TABLE.c.username) == sa.func.lower(username)))


def list_users(session: Session, keyword: str, status: str | None, limit: int, offset: int) -> list[User]:
    """Users whose name or address holds the keyword, newest first."""
    found = session.dicts(
        TABLE, *_listed(keyword, status), order=[TABLE.c.id.desc()], limit=limit, offset=offset
    )
    return [User.of(row) for row in found]


def count_users(session: Session, keyword: str, status: str | None) -> int:
    return session.count("app_users", *_listed(keyword, status))


def _listed(keyword: str, status: str | None) -> list[sa.ColumnElement[bool]]:
    text = keyword.lower()
    named = [
        sa.func.lower(TABLE.c[column]).contains(text, autoescape=True) for column in ("username", "email")
    ]
    return [sa.or_(*named), *([TABLE.c.status == status] if status else [])]


def change_status(connection: Connection, _sql: Sql, user_id: int, status: str, now: str) -> None:
    """Set the status of a user. Raises NotFound, and ConflictError where no active administrator would be
    left."""
    c = TABLE.c
    rows = connection.execute(select(TABLE, c.role, c.status).where(c.id == user_id)).all()
    if not rows:
        raise NotFound("没有这个用户")
    others = select(TABLE, sa.func.count()).where(c.role == ADMIN, c.status == ACTIVE, c.id != user_id)
    if status != ACTIVE and tuple(rows[0]) == (ADMIN, ACTIVE) and not connection.scalar(others):
        raise ConflictError("不能停用最后一个管理员")
    connection.execute(update(TABLE, {"status": status, "updated_at": now}, c.id == user_id))


def credentials_by_id(session: Session, user_id: int) -> tuple[User, str] | None:
    return _with_hash(session.dicts(TABLE, TABLE.c.id == user_id))


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
        connection.execute(update(TABLE, values, TABLE.c.id == user_id))
    except sa.exc.IntegrityError:
        raise ConflictError("用户名或邮箱已被使用") from None


def change_password(connection: Connection, sql: Sql, user_id: int, made: str, now: str) -> None:
    """Set the hash of a new password; tokens of the old one become invalid."""
    generation = sa.func.coalesce(TABLE.c.token_generation, 0) + 1
    values = {"password_hash": made, "updated_at": now, "token_generation": generation}
    connection.execute(update(TABLE, values, TABLE.c.id == user_id))


def _refuse_taken(connection: Connection, sql: Sql, values: Mapping[str, Any], own_id: int | None) -> None:
    for column, title in (("username", "用户名"), ("email", "邮箱")):
        if column not in values:
            continue
        same = sa.func.lower(TABLE.c[column]) == sa.func.lower(values[column])
        if any(int(other) != own_id for other in connection.scalars(select(TABLE, TABLE.c.id).where(same))):
            raise ConflictError(f"{title}已被使用")


def count_call(connection: Connection, sql: Sql, user_id: int, today: str, limit: int) -> bool:
    """Count one AI call of `today` when fewer than `limit` were made; False when the limit is reached. The
    count is set before the date: MariaDB evaluates assignments from left to right."""
    c, made = TABLE.c, sa.func.coalesce(TABLE.c.ai_usage_count, 0)
    counted = {
        "ai_usage_count": sa.case((c.ai_usage_date == today, made + 1), else_=1),
        "ai_usage_date": today,
    }
    left = c.ai_usage_date.is_(None) | (c.ai_usage_date != today) | (made < limit)
    return connection.execute(update(TABLE, counted, c.id == user_id, left)).rowcount == 1
