"""/datamgr/batches."""

from typing import Annotated

from fastapi import Path

from serving_api.admin.batches import schemas, service
from serving_api.admin.shared import Limit50, only
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/batches", "datamgr: batches")


@router.get("", list[schemas.Batch], top=[("total", int)])
async def batches(
    call: Admin,
    fusion_type: Annotated[str | None, only("dataset")] = None,
    status: Annotated[str | None, only("status: running, success, failed")] = None,
    run_id: Annotated[str | None, only("Dagster run")] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Batches, newest first."""
    found = await service.batches(
        call.state, fusion_type=fusion_type, status=status, run_id=run_id, limit=limit
    )
    return Answer(found)


@router.get("/{batch_id}", schemas.BatchDetail, raises=(404,))
async def batch(call: Admin, batch_id: Annotated[str, Path(max_length=64, description="batch id")]) -> Answer:
    """One batch: what it wrote, which checks failed, which batches came from the same download."""
    return Answer(await service.batch(call.state, batch_id))
