"""SQL of the receipts."""

from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session

TABLE = "sys_chat_receipt"
COLUMNS = (
    "receipt_id", "user_id", "asked_at", "expires_at", "kind", "question_hash", "provenance", "body",
)  # fmt: skip


def receipt(session: Session, receipt_id: str, user_id: int, now: float) -> str | None:
    """The body of a receipt, for the user who asked."""
    return session.first(TABLE, "body", {"receipt_id": receipt_id, "user_id": user_id, "expires_at>": now})


def newest_answer(session: Session, user_id: int, question_hash: str, now: float) -> str | None:
    """The body of the newest receipt of a model's answer to the same question of the same user."""
    of = {"user_id": user_id, "question_hash": question_hash, "provenance": "ai", "expires_at>": now}
    return session.first(TABLE, "body", of, order="asked_at DESC")


def keep(connection: Connection, sql: Sql, row: dict[str, Any], most: int, now: float) -> None:
    """Store a receipt; deletes expired ones, and the oldest beyond `most` of the user."""
    connection.exec_driver_sql(sql.insert(TABLE, COLUMNS), tuple(row[name] for name in COLUMNS))
    connection.exec_driver_sql(sql.text(f"DELETE FROM {TABLE} WHERE expires_at<=?"), (now,))
    surplus = connection.exec_driver_sql(
        sql.text(
            f"SELECT receipt_id FROM {TABLE} WHERE user_id=? ORDER BY asked_at DESC, receipt_id "
            f"LIMIT 1000 OFFSET {int(most)}"
        ),
        (row["user_id"],),
    ).scalars()
    for old in list(surplus):
        connection.exec_driver_sql(sql.text(f"DELETE FROM {TABLE} WHERE receipt_id=?"), (old,))
