"""/datamgr/cleanup: admin, enveloped."""

from typing import Annotated

from fastapi import Body

from serving_api.admin.cleanup import schemas, service
from serving_api.admin.waiting import LATER, Accepted
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/cleanup", "datamgr: maintenance")


@router.post("", schemas.Cleaned, responses=LATER)
async def cleanup(call: Admin, body: Annotated[schemas.CleanupRequest | None, Body()] = None) -> Answer:
    """Delete rows of staged time series older than `days`; fused, received and dimension tables are not
    touched."""
    try:
        requested = body or schemas.CleanupRequest()
        return Answer(await service.cleanup(call.state, requested, call.member.username))
    except Accepted as later:
        return later.answer
