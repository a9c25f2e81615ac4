"""/datamgr/commands."""

from typing import Annotated

from fastapi import Path, Query

from serving_api.admin.commands import schemas, service
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/commands", "datamgr: commands")

CommandId = Annotated[int, Path(ge=1, le=MAX_ID, description="id from the 202 answer")]


@router.get("", list[schemas.CommandItem], top=[("total", int)])
async def commands(
    call: Admin,
    status: Annotated[
        schemas.CommandStatus | None, Query(description="only commands with this status")
    ] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Commands, newest first."""
    return Answer(await service.commands(call.state, status=status, limit=limit))


@router.get("/{command_id}", schemas.CommandItem, raises=(404,))
async def command(call: Admin, command_id: CommandId) -> Answer:
    """One command and its progress."""
    return Answer(await service.command(call.state, command_id))


@router.post("/{command_id}/cancel", schemas.Canceled, raises=(404, 409))
async def cancel(call: Admin, command_id: CommandId) -> Answer:
    """A queued command is canceled at once, a running one stops at its next safe point."""
    return Answer(await service.cancel(call.state, command_id))
