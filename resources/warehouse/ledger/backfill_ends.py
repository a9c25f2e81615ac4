"""A backfill ends with its command, in the transaction that ends the command: canceled before it began, or
failed with its worker."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.engine import Connection

from resources.warehouse.sql import Sql

BACKFILL = "backfill"
"""The command that carries out a row of `sys_backfill`; its argument `backfill_id` names the row."""


def end_backfill(
    connection: Connection, sql: Sql, command: str, args: Mapping[str, Any], status: str, *, now: str
) -> None:
    """Settle the row of a command that ends with `status`. What its handler has written stays: a row that has
    ended, and that of a command which ended well."""
    backfill_id = args.get("backfill_id")
    if command != BACKFILL or status == "success" or not isinstance(backfill_id, str):
        return
    sql.run(
        connection,
        "UPDATE sys_backfill SET status=?, finished_at=?, updated_at=? "
        "WHERE backfill_id=? AND status IN ('queued', 'running')",
        (status, now, now, backfill_id),
    )
