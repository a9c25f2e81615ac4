"""/datamgr/backfill: admin, enveloped."""

from typing import Annotated

from fastapi import Path, Query

from serving_api.admin.backfill import schemas, service
from serving_api.admin.gaps.schemas import PlanRequest
from serving_api.admin.shared import Limit50
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/backfill", "datamgr: gaps")

BackfillId = Annotated[str, Path(max_length=32, description="id from the 202 answer")]


@router.post("", schemas.Started, raises=(404, 409), status_code=202)
async def start(call: Admin, body: PlanRequest) -> Answer:
    """Load the trade dates that the plan of the same body counts, in the background."""
    found = await service.start(call.state, body, call.member.username)
    return Answer(found, status_code=202)


@router.get("", list[schemas.BackfillItem], top=[("total", int)], cache=NO_STORE)
async def backfills(
    call: Admin,
    status: Annotated[
        schemas.StoredStanding | None, Query(description="only backfills with this status")
    ] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Backfills, newest first."""
    return Answer(await service.backfills(call.state, status, limit))


@router.get("/{backfill_id}", schemas.BackfillDetail, raises=(404,), cache=NO_STORE)
async def backfill(call: Admin, backfill_id: BackfillId) -> Answer:
    """One backfill and its progress."""
    return Answer(await service.backfill(call.state, backfill_id))


@router.post("/{backfill_id}/cancel", schemas.Canceling, raises=(404, 409))
async def cancel(call: Admin, backfill_id: BackfillId) -> Answer:
    """Stop at the next safe point; what is loaded stays."""
    return Answer(await service.cancel(call.state, backfill_id))


@router.post("/{backfill_id}/resume", schemas.Resumed, raises=(404, 409), status_code=202)
async def resume(call: Admin, backfill_id: BackfillId) -> Answer:
    """Continue with the trade dates that are not loaded."""
    found = await service.resume(call.state, backfill_id, call.member.username)
    return Answer(found, status_code=202)
