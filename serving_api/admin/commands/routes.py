"""/datamgr/commands."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request

from serving_api.admin.commands import schemas, service
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/commands", "datamgr: commands")

CommandId = Annotated[int, Path(ge=1, le=MAX_ID, description="id from the 202 answer")]


@router.get("")
@serving(list[schemas.CommandItem], top=[("total", int)])
async def commands(
    request: Request,
    subject: Admin,
    status: Annotated[
        schemas.CommandStatus | None, Query(description="only commands with this status")
    ] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Commands, newest first."""
    return Answer(await service.commands(state_of(request), status=status, limit=limit))


@router.get("/{command_id}")
@serving(schemas.CommandItem, raises=(404,))
async def command(request: Request, subject: Admin, command_id: CommandId) -> Answer:
    """One command and its progress."""
    return Answer(await service.command(state_of(request), command_id))


@router.post("/{command_id}/cancel")
@serving(schemas.Canceled, cache=NO_STORE, raises=(404, 409))
async def cancel(request: Request, subject: Admin, command_id: CommandId) -> Answer:
    """A queued command is canceled at once, a running one stops at its next safe point."""
    return Answer(await service.cancel(state_of(request), command_id))
