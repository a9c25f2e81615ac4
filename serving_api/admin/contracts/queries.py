"""SQL over sys_batch for contracts."""

from collections.abc import Sequence
from typing import Any

from serving_api.db.sessions import Session


def newest(session: Session, tables: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """Table -> {success, failed}: when its newest batch of either kind ended."""
    marks = ", ".join("?" for _ in tables)
    rows = session.run(
        "SELECT table_name, MAX(CASE WHEN status='success' THEN finished_at END), "
        "MAX(CASE WHEN status='failed' THEN finished_at END) FROM sys_batch "
        f"WHERE table_name IN ({marks}) GROUP BY table_name",
        tuple(tables),
    )
    return {str(name): {"success": success, "failed": failed} for name, success, failed in rows}


def successes(session: Session, ended: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Table -> its newest successful batch; `ended` is when that batch ended. Of batches that ended at the
    same time the one of the newest partition is taken, and no parent batch."""
    found = {}
    for table, at in ended.items():
        rows = session.run(
            "SELECT batch_id, partition_key, finished_at, COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) "
            "FROM sys_batch b WHERE table_name=? AND status='success' AND finished_at=? "
            "AND NOT EXISTS (SELECT 1 FROM sys_batch c WHERE c.parent_batch_id=b.batch_id) "
            "ORDER BY partition_key DESC, batch_id DESC LIMIT 1",
            (table, at),
        )
        if rows:
            batch_id, partition, finished, count = rows[0]
            found[table] = {
                "batch_id": str(batch_id),
                "partition": partition,
                "at": str(finished),
                "rows": int(count),
            }
    return found
