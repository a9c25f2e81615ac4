"""SQL of the live reads: stored answers and their claims, industries of boards."""

from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql
from serving_api.reading import Session

SNAPSHOTS = "sys_market_snapshot"
BLOCKS = "raw_concept_blocks"


def industry_boards(session: Session) -> list[tuple[Any, ...]]:
    """(name, board code, source) of the industry boards."""
    if not session.has(BLOCKS):
        return []
    return session.run(
        f"SELECT DISTINCT block_name, block_code, src FROM {BLOCKS} WHERE block_type='industry'"
    )


def ensure_snapshot(connection: Connection, sql: Sql, data_type: str, day: str) -> None:
    """The row of a data type and trade date, without an answer yet."""
    connection.exec_driver_sql(
        sql.insert_absent(SNAPSHOTS, ("data_type", "trade_date", "is_final")), (data_type, day, 0)
    )


def claim_refresh(
    connection: Connection, sql: Sql, key: tuple[str, str], owner: str, now: float, until: float
) -> bool:
    """Whether `owner` may refresh the answer of `key` (data type, trade date) until that second."""
    done = connection.exec_driver_sql(
        sql.text(
            f"UPDATE {SNAPSHOTS} SET refresh_owner=?, refresh_until=? WHERE data_type=? AND trade_date=? "
            "AND (refresh_until IS NULL OR refresh_until<=? OR refresh_owner=?)"
        ),
        (owner, until, *key, now, owner),
    )
    return done.rowcount == 1


def release_refresh(connection: Connection, sql: Sql, key: tuple[str, str], owner: str) -> None:
    connection.exec_driver_sql(
        sql.text(
            f"UPDATE {SNAPSHOTS} SET refresh_until=NULL "
            "WHERE data_type=? AND trade_date=? AND refresh_owner=?"
        ),
        (*key, owner),
    )


def put_snapshot(
    connection: Connection,
    sql: Sql,
    key: tuple[str, str],
    *,
    payload: str,
    source: str | None,
    is_final: bool,
    at: str,
    updated_at: str,
) -> bool:
    """Store an answer captured `at` and end the claim on it; False when the final one, or a newer one, stands
    already."""
    done = connection.exec_driver_sql(
        sql.text(
            f"UPDATE {SNAPSHOTS} SET payload_json=?, source=?, is_final=?, captured_at=?, updated_at=?, "
            "refresh_until=NULL WHERE data_type=? AND trade_date=? AND (payload_json IS NULL "
            "OR ((is_final IS NULL OR is_final=0) AND captured_at<=?))"
        ),
        (payload, source, int(is_final), at, updated_at, *key, at),
    )
    return done.rowcount == 1
