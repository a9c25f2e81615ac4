"""SQL over sys_batch."""

from collections.abc import Mapping, Sequence
from typing import Any

from serving_api.db.sessions import Session

TABLE = "sys_batch"
MAX_CHILDREN = 2000
_CHUNK = 200


def newest(session: Session, equal: Mapping[str, str | None], limit: int) -> tuple[list[dict[str, Any]], int]:
    """(batches newest first, number of matches). `equal`: column -> value to filter by, None = any."""
    requested = {column: value for column, value in equal.items() if value is not None}
    where = " AND ".join(f"{column}=?" for column in requested)
    values = tuple(requested.values())
    clause = f" WHERE {where}" if where else ""
    total = session.run(f"SELECT COUNT(*) FROM {TABLE}{clause}", values)[0][0]
    order = "started_at DESC, batch_id DESC"
    return session.dicts(TABLE, where=where, values=values, order=order, limit=limit), int(total)


def by_ids(session: Session, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Batches by id; unknown ids are left out."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _CHUNK):
        chunk = tuple(ids[start : start + _CHUNK])
        marks = ", ".join("?" for _ in chunk)
        for row in session.dicts(TABLE, where=f"batch_id IN ({marks})", values=chunk):
            found[str(row["batch_id"])] = row
    return found


def children(session: Session, batch_id: str) -> list[dict[str, Any]]:
    """Batches that were written from one download, in the order of their partitions."""
    return session.dicts(
        TABLE,
        where="parent_batch_id=?",
        values=(batch_id,),
        order="partition_key, batch_id",
        limit=MAX_CHILDREN,
    )


def quality(session: Session, batch_id: str, limit: int) -> list[dict[str, Any]]:
    return session.dicts(
        "sys_quality_record", where="batch_id=?", values=(batch_id,), order="id", limit=limit
    )
