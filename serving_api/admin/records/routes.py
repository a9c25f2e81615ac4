"""/datamgr/sync-logs and /datamgr/quality-records."""

from typing import Annotated, Literal

from fastapi import Query

from serving_api.admin.records import schemas, service
from serving_api.admin.shared import CodeFilter, Limit50, only
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

sync_logs_router = area_router(f"{PREFIX}/datamgr/sync-logs", "datamgr: records")
quality_router = area_router(f"{PREFIX}/datamgr/quality-records", "datamgr: records")


@sync_logs_router.get("", list[schemas.SyncLog], top=[("total", int)])
async def sync_logs(
    call: Admin,
    taskType: Annotated[str | None, only("kind of work, e.g. sched:eod_core, download:quote")] = None,
    status: Annotated[str | None, only("status: success, partial, failed")] = None,
    code: CodeFilter = None,
    limit: Limit50 = 50,
) -> Answer:
    """Downloads and syncs, newest first."""
    found = await service.sync_logs(call.state, task_type=taskType, status=status, code=code, limit=limit)
    return Answer(found)


@quality_router.get("", list[schemas.QualityRecord], top=[("total", int)])
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
    found = await service.quality_records(
        call.state, table=table, batch_id=batch_id, severity=severity, code=code, limit=limit
    )
    return Answer(found)
