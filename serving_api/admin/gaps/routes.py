"""/datamgr/gaps and /datamgr/backfill/plan: admin, enveloped."""

from enum import StrEnum
from typing import Annotated

from fastapi import Query

from serving_api.admin.gaps import schemas, service
from serving_api.admin.shared import MAX_ID
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router


class GapStatus(StrEnum):
    open = "open"
    queued = "queued"
    repaired = "repaired"
    given_up = "given_up"


router = area_router(f"{PREFIX}/datamgr", "datamgr: gaps")


@router.get(
    "/gaps",
    list[schemas.Gap],
    top=[("total", int), ("page", int), ("page_size", int), ("budget", schemas.Budget)],
    raises=(404,),
    cache=NO_STORE,
)
async def gaps(
    call: Admin,
    dataset: Annotated[str | None, Query(max_length=64, description="only this dataset")] = None,
    since: Annotated[str | None, Query(alias="from", max_length=32, description="first day")] = None,
    until: Annotated[str | None, Query(alias="to", max_length=32, description="last day")] = None,
    status: Annotated[GapStatus | None, Query(description="only gaps with this repair status")] = None,
    page: Annotated[int, Query(ge=1, le=MAX_ID, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=200, description="gaps on a page")] = 50,
) -> Answer:
    """Missing trade dates within the loaded range of each dataset, newest first."""
    found = await service.gaps(
        call.state,
        dataset=dataset,
        since=since,
        until=until,
        status=None if status is None else status.value,
        page=page,
        page_size=page_size,
    )
    return Answer(found)


@router.post("/backfill/plan", schemas.Plan, raises=(404,))
async def plan(call: Admin, body: schemas.PlanRequest) -> Answer:
    """The cost of loading a range of trade dates: calls, minutes, rows. Starts nothing."""
    return Answer(await service.plan(call.state, body))
