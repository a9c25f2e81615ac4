"""/datamgr/reconcile: admin, enveloped."""

from typing import Annotated

from fastapi import Query

from serving_api.admin.reconcile import schemas, service
from serving_api.admin.reconcile.queries import TABLE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/reconcile", "datamgr: reconciliation")


@router.get("", list[schemas.Agreement], top=[("date", str), ("total", int)], raises=(404,), tables=(TABLE,))
async def reconcile(
    call: Admin,
    date: Annotated[str | None, Query(max_length=32, description="trade date; default the newest")] = None,
    dataset: Annotated[str | None, Query(max_length=64, description="only this dataset")] = None,
    field: Annotated[str | None, Query(max_length=64, description="only this field")] = None,
) -> Answer:
    """How far independent sources agree, field by field, and the names that differ most."""
    return Answer(await service.reconcile(call.state, date, dataset, field))
