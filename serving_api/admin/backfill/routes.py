"""/datamgr/backfill: admin, enveloped."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request

from serving_api.admin.backfill import schemas, service
from serving_api.admin.gaps.schemas import PlanRequest
from serving_api.admin.shared import Limit50
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/backfill", "datamgr: gaps")

BackfillId = Annotated[str, Path(max_length=32, description="id from the 202 answer")]


@router.post("", status_code=202)
@serving(schemas.Started, cache=NO_STORE, raises=(404, 409))
async def start(request: Request, subject: Admin, body: PlanRequest) -> Answer:
    """Load the trade dates that the plan of the same body counts, in the background."""
    found = await service.start(state_of(request), body, subject.member.username)
    return Answer(found, status_code=202)


@router.get("")
@serving(list[schemas.BackfillItem], top=[("total", int)], cache=NO_STORE)
async def backfills(
    request: Request,
    subject: Admin,
    status: Annotated[
        schemas.StoredStanding | None, Query(description="only backfills with this status")
    ] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Backfills, newest first."""
    return Answer(await service.backfills(state_of(request), status, limit))


@router.get("/{backfill_id}")
@serving(schemas.BackfillDetail, raises=(404,), cache=NO_STORE)
async def backfill(request: Request, subject: Admin, backfill_id: BackfillId) -> Answer:
    """One backfill and its progress."""
    return Answer(await service.backfill(state_of(request), backfill_id))


@router.post("/{backfill_id}/cancel")
@serving(schemas.Canceling, cache=NO_STORE, raises=(404, 409))
async def cancel(request: Request, subject: Admin, backfill_id: BackfillId) -> Answer:
    """Stop at the next safe point; what is loaded stays."""
    return Answer(await service.cancel(state_of(request), backfill_id))


@router.post("/{backfill_id}/resume", status_code=202)
@serving(schemas.Resumed, cache=NO_STORE, raises=(404, 409))
async def resume(request: Request, subject: Admin, backfill_id: BackfillId) -> Answer:
    """Continue with the trade dates that are not loaded."""
    found = await service.resume(state_of(request), backfill_id, subject.member.username)
    return Answer(found, status_code=202)
