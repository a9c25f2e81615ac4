"""/datamgr/batches."""

from typing import Annotated

from fastapi import Path
from starlette.requests import Request

from serving_api.admin.batches import schemas, service
from serving_api.admin.shared import Limit50, only
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/batches", "datamgr: batches")


@router.get("")
@serving(list[schemas.Batch], top=[("total", int)])
async def batches(
    request: Request,
    subject: Admin,
    fusion_type: Annotated[str | None, only("dataset")] = None,
    status: Annotated[str | None, only("status: running, success, failed")] = None,
    run_id: Annotated[str | None, only("Dagster run")] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Batches, newest first."""
    found = await service.batches(
        state_of(request), fusion_type=fusion_type, status=status, run_id=run_id, limit=limit
    )
    return Answer(found)


@router.get("/{batch_id}")
@serving(schemas.BatchDetail, raises=(404,))
async def batch(
    request: Request, subject: Admin, batch_id: Annotated[str, Path(max_length=64, description="batch id")]
) -> Answer:
    """One batch: what it wrote, which checks failed, which batches came from the same download."""
    return Answer(await service.batch(state_of(request), batch_id))
