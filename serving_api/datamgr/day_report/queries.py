"""Batches of one trade date."""

from typing import Any

from serving_api.reading import Session

_COLUMNS = "batch_id, table_name, status, run_id, partition_key, sources_json, error, started_at, finished_at"
_NAMES = tuple(_COLUMNS.split(", "))


def of_date(session: Session, day: str, next_day: str) -> list[dict[str, Any]]:
    """Batches that ended, of the partition of a date or begun on that day, oldest first. A load of several
    dates says once, in the batch that sums them up, what its sources did."""
    rows = session.run(
        f"SELECT {_COLUMNS}, COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) FROM sys_batch "
        "WHERE (partition_key=? OR (started_at>=? AND started_at<?)) AND status IN ('success', 'failed') "
        "ORDER BY started_at, batch_id",
        (day, day, next_day),
    )
    return [dict(zip((*_NAMES, "rows"), row, strict=True)) for row in rows]
