"""/datamgr/cleanup: admin, enveloped."""

from typing import Annotated

from fastapi import Body
from starlette.requests import Request

from serving_api.answers import Answer
from serving_api.caching import NO_STORE
from serving_api.datamgr.cleanup import schemas, service
from serving_api.datamgr.waiting import LATER, Accepted
from serving_api.envelope import PREFIX
from serving_api.permissions import Admin
from serving_api.routing import area_router, serving
from serving_api.state import state_of

router = area_router(f"{PREFIX}/datamgr/cleanup", "datamgr: maintenance")


@router.post("", responses=LATER)
@serving(schemas.Cleaned, cache=NO_STORE)
async def cleanup(
    request: Request, subject: Admin, body: Annotated[schemas.CleanupWish | None, Body()] = None
) -> Answer:
    """Delete staged time series older than `days`; fused, received and dimension tables stay whole."""
    try:
        wish = body or schemas.CleanupWish()
        return Answer(await service.cleanup(state_of(request), wish, subject.member.username))
    except Accepted as later:
        return later.answer
