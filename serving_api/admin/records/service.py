"""The sync log and the quality records as the API shows them."""

from collections.abc import Mapping
from typing import Any

from serving_api.admin.records import queries
from serving_api.admin.shared import instant, parse_json
from serving_api.framework.state import State

_QUALITY = (
    "id batch_id table_name check_name severity column_name code failed_value failed_count total_count "
    "action message"
).split()


async def sync_logs(
    state: State, *, task_type: str | None, status: str | None, code: str | None, limit: int
) -> dict[str, Any]:
    """{items[SyncLog], total}."""
    equal = {"task_type": task_type, "status": status, "code": code}
    rows, total = await state.reading.scan(queries.newest, queries.SYNC_LOG, equal, limit)
    return {"items": [_sync_log(row) for row in rows], "total": total}


def _sync_log(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("id", "code", "status", "total", "success", "failed", "message")
    return {
        **{name: row[name] for name in names},
        "taskType": row["task_type"],
        "startedAt": instant(row["started_at"]),
        "finishedAt": instant(row["finished_at"]),
    }


async def quality_records(
    state: State,
    *,
    table: str | None,
    batch_id: str | None,
    severity: str | None,
    code: str | None,
    limit: int,
) -> dict[str, Any]:
    """{items[QualityRecord], total}."""
    equal = {"table_name": table, "batch_id": batch_id, "severity": severity, "code": code}
    rows, total = await state.reading.scan(queries.newest, queries.QUALITY, equal, limit)
    return {"items": [quality_record(row) for row in rows], "total": total}


def quality_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """A stored record; its key as an object, or as text when it was too long to be stored whole."""
    key = row["natural_key"]
    return {
        **{name: row[name] for name in _QUALITY},
        "row_key": parse_json(key, key),
        "created_at": instant(row["created_at"]),
    }
