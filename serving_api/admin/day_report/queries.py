"""SQL over the batches of one trade date."""

from collections.abc import Sequence
from typing import Any

from resources.warehouse.batch_records import HELD_BACK
from serving_api.db.sessions import Session

_COLUMNS = "batch_id, table_name, status, run_id, partition_key, sources_json, error, started_at, finished_at"
_NAMES = tuple(_COLUMNS.split(", "))
_SPAN = "____-__-__..____-__-__"


def of_date(session: Session, day: str, next_day: str, periods: Sequence[str]) -> list[dict[str, Any]]:
    """Finished batches of a date: those of its partition, those of a range of dates that contains it, and
    those of report periods that began on that day. Unordered."""
    marks = ", ".join("?" for _ in periods)
    rows = session.run(
        f"SELECT {_COLUMNS}, COALESCE(rows_ok, 0) + COALESCE(rows_warning, 0) FROM sys_batch "
        "WHERE (partition_key=? OR (partition_key LIKE ? AND SUBSTR(partition_key, 1, 10)<=? "
        "AND SUBSTR(partition_key, 13, 10)>=?) "
        f"OR (started_at>=? AND started_at<? AND SUBSTR(partition_key, 1, 10) IN ({marks}))) "
        "AND status IN ('success', 'failed')",
        (day, _SPAN, day, day, day, next_day, *periods),
    )
    return [dict(zip((*_NAMES, "rows"), row, strict=True)) for row in rows]


def held_back(session: Session, batches: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """Batch -> (check, failing rows) of rows that were stored but are not used for adjustment."""
    found: dict[str, list[tuple[str, int]]] = {}
    for at in range(0, len(batches), 500):
        asked = batches[at : at + 500]
        rows = session.run(
            "SELECT batch_id, check_name, MAX(failed_count) FROM sys_quality_record "
            f"WHERE batch_id IN ({', '.join('?' for _ in asked)}) AND action=? AND natural_key IS NULL "
            "GROUP BY batch_id, check_name ORDER BY batch_id, check_name",
            (*asked, HELD_BACK),
        )
        for batch, check, count in rows:
            found.setdefault(str(batch), []).append((str(check), int(count)))
    return found
