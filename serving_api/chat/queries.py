"""SQL of the receipts."""

from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from resources.warehouse.stored import delete, select, stored
from serving_api.db.sessions import Session

TABLE = stored("sys_chat_receipt")
COLUMNS = (
    "receipt_id", "user_id", "asked_at", "expires_at", "kind", "question_hash", "provenance", "body",
)  # fmt: skip


def receipt(session: Session, receipt_id: str, user_id: int, now: float) -> str | None:
    """The body of a receipt, for the user who asked."""
    return session.first(
        TABLE, "body", TABLE.c.receipt_id == receipt_id, TABLE.c.user_id == user_id, TABLE.c.expires_at > now
    )


def newest_answer(session: Session, user_id: int, question_hash: str, now: float) -> str | None:
    """The body of the newest receipt of a model's answer to the same question of the same user."""
    of = [
        TABLE.c.user_id == user_id,
        TABLE.c.question_hash == question_hash,
        TABLE.c.provenance == "ai",
        TABLE.c.expires_at > now,
    ]
    return session.first(TABLE, "body", *of, order=[TABLE.c.asked_at.desc()])


def keep(connection: Connection, sql: Sql, row: dict[str, Any], most: int, now: float) -> None:
    """Store a receipt; deletes expired ones, and the oldest beyond `most` of the user."""
    connection.exec_driver_sql(sql.insert(TABLE, COLUMNS), tuple(row[name] for name in COLUMNS))
    c = TABLE.c
    connection.execute(delete(TABLE, c.expires_at <= now))
    own = select(TABLE, c.receipt_id).where(c.user_id == row["user_id"])
    surplus = own.order_by(c.asked_at.desc(), c.receipt_id).limit(1000).offset(most)
    connection.execute(delete(TABLE, c.receipt_id.in_(connection.scalars(surplus).all())))
