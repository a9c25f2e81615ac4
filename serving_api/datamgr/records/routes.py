"""/datamgr/sync-logs and /datamgr/quality-records."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request

from serving_api.answers import Answer
from serving_api.datamgr.records import schemas, service
from serving_api.datamgr.shared import CodeFilter, Limit50
from serving_api.envelope import PREFIX
from serving_api.permissions import Admin
from serving_api.routing import area_router, serving
from serving_api.state import state_of

sync_logs_router = area_router(f"{PREFIX}/datamgr/sync-logs", "datamgr: records")
quality_router = area_router(f"{PREFIX}/datamgr/quality-records", "datamgr: records")

Word = Annotated[str | None, Query(max_length=128)]


@sync_logs_router.get("")
@serving(list[schemas.SyncLog], top=[("total", int)])
async def sync_logs(
    request: Request,
    subject: Admin,
    taskType: Word = None,
    status: Word = None,
    code: CodeFilter = None,
    limit: Limit50 = 50,
) -> Answer:
    """What was downloaded and synchronised, newest first."""
    found = await service.sync_logs(
        state_of(request), task_type=taskType, status=status, code=code, limit=limit
    )
    return Answer(found)


@quality_router.get("")
@serving(list[schemas.QualityRecord], top=[("total", int)])
async def quality_records(
    request: Request,
    subject: Admin,
    table: Word = None,
    batch_id: Word = None,
    severity: Literal["hard", "soft", "contract"] | None = None,
    code: CodeFilter = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Answer:
    """Failed checks, newest first."""
    found = await service.quality_records(
        state_of(request), table=table, batch_id=batch_id, severity=severity, code=code, limit=limit
    )
    return Answer(found)
