"""/datamgr/config."""

from typing import Annotated

from fastapi import Query

from serving_api.admin.config import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/config", "datamgr: configuration")


@router.get("", list[schemas.ConfigItem])
async def config(
    call: Admin, group: Annotated[str | None, Query(max_length=32, description="only this group")] = None
) -> Answer:
    """The settings that may be stored, with the value in force."""
    return Answer(await service.config(call.state, group))


@router.put("", schemas.ConfigChanged)
async def change(call: Admin, body: schemas.ConfigChange) -> Answer:
    """Store one setting."""
    return Answer(await service.change(call.state, body.key, body.value, call.member.username))
