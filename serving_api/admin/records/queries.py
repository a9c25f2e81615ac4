"""SQL over the sync log and the quality records: filtered, newest first, with the number of matches."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session

SYNC_LOG = "sys_sync_log"
QUALITY = "sys_quality_record"


def newest(
    session: Session, table: str, equal: Mapping[str, str | None], limit: int
) -> tuple[list[dict[str, Any]], int]:
    """(rows newest first, number of matches). `equal`: column -> value to filter by, None = any."""
    requested = {column: value for column, value in equal.items() if value is not None}
    where = " AND ".join(f"{session.sql.name(column)}=?" for column in requested)
    values = tuple(requested.values())
    clause = f" WHERE {where}" if where else ""
    total = session.run(f"SELECT COUNT(*) FROM {table}{clause}", values)[0][0]
    return session.dicts(table, where=where, values=values, order="id DESC", limit=limit), int(total)
