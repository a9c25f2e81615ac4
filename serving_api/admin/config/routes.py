"""/datamgr/config."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from serving_api.admin.config import schemas, service
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/config", "datamgr: configuration")


@router.get("")
@serving(list[schemas.ConfigItem])
async def config(
    request: Request,
    subject: Admin,
    group: Annotated[str | None, Query(max_length=32, description="only this group")] = None,
) -> Answer:
    """The settings that may be stored, with the value in force."""
    return Answer(await service.config(state_of(request), group))


@router.put("")
@serving(schemas.ConfigChanged, cache=NO_STORE)
async def change(request: Request, subject: Admin, body: schemas.ConfigChange) -> Answer:
    """Store one setting."""
    state = state_of(request)
    return Answer(await service.change(state, body.key, body.value, subject.member.username))
