"""/datamgr/sync-logs and /datamgr/quality-records."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from resources.warehouse.stored import Order, Where, matching, stored
from serving_api.admin.shared import CodeFilter, Limit50, only, parse_json
from serving_api.db.batches import QUALITY
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Instant, StoredRow
from serving_api.framework.state import State


class SyncLog(StoredRow):
    id: int
    code: str | None
    status: str | None
    total: int | None
    success: int | None
    failed: int | None
    message: str | None
    startedAt: Instant = Field(validation_alias="started_at")
    finishedAt: Instant = Field(validation_alias="finished_at")
    taskType: str | None = Field(
        validation_alias="task_type",
        description=(
            "`sched:<key>` for scheduled tasks, `download:<type>`, or a job that was started by request"
        ),
    )


class QualityRecord(BaseModel):
    """One failed check: of one row (`row_key` set) or the summary of a check in a batch."""

    id: int
    batch_id: str | None
    table_name: str | None
    check_name: str | None
    column_name: str | None
    code: str | None
    failed_value: str | None
    failed_count: int | None
    total_count: int | None
    action: str | None
    message: str | None
    created_at: Instant
    severity: str | None = Field(description="hard, soft, or contract (an upstream's answer)")
    row_key: dict[str, Any] | str | None


SYNC_LOG = stored("sys_sync_log")


def newest(
    session: Session, table: str, where: Sequence[Where], limit: int, *order: Order
) -> tuple[list[dict[str, Any]], int]:
    """(rows newest first, number of matches)."""
    rows = session.dicts(table, *where, order=order, limit=limit)
    return rows, session.count(table, *where)


async def logged_syncs(
    state: State, *, task_type: str | None, status: str | None, code: str | None, limit: int
) -> dict[str, Any]:
    """{items[SyncLog], total}."""
    c = SYNC_LOG.c
    where = [*matching(c.task_type, task_type), *matching(c.status, status), *matching(c.code, code)]
    rows, total = await state.reading.scan(newest, SYNC_LOG, where, limit, c.id.desc())
    return {"items": [SyncLog.model_validate(row) for row in rows], "total": total}


def quality_record(row: Mapping[str, Any]) -> QualityRecord:
    """A stored record; its key as an object, or as text when it was too long to be stored whole."""
    key = row["natural_key"]
    return QualityRecord.model_validate({**row, "row_key": parse_json(key, key)})


sync_logs_router = area_router(f"{PREFIX}/datamgr/sync-logs", "datamgr: records")
quality_router = area_router(f"{PREFIX}/datamgr/quality-records", "datamgr: records")


@sync_logs_router.get("", response_model=list[SyncLog])
@serves(top=[("total", int)])
async def sync_logs(
    call: Admin,
    taskType: Annotated[str | None, only("kind of work, e.g. sched:eod_core, download:quote")] = None,
    status: Annotated[str | None, only("status: success, partial, failed")] = None,
    code: CodeFilter = None,
    limit: Limit50 = 50,
) -> Answer:
    """Downloads and syncs, newest first."""
    found = await logged_syncs(call.state, task_type=taskType, status=status, code=code, limit=limit)
    return Answer(found)


@quality_router.get("", response_model=list[QualityRecord])
@serves(top=[("total", int)])
async def quality_records(
    call: Admin,
    table: Annotated[str | None, only("table")] = None,
    batch_id: Annotated[str | None, only("batch")] = None,
    severity: Annotated[
        Literal["hard", "soft", "contract"] | None,
        Query(description="hard rejects a row, soft warns, contract is about an upstream's answer"),
    ] = None,
    code: CodeFilter = None,
    limit: Limit50 = 100,
) -> Answer:
    """Failed checks, newest first."""
    c = QUALITY.c
    where = [
        *matching(c.table_name, table), *matching(c.batch_id, batch_id), *matching(c.severity, severity),
        *matching(c.code, code),
    ]  # fmt: skip
    rows, total = await call.state.reading.scan(newest, QUALITY, where, limit, c.id.desc())
    return Answer({"items": [quality_record(row) for row in rows], "total": total})
