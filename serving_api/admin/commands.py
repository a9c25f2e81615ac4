"""/datamgr/commands."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from resources.orchestrator import run_url
from resources.settings import Settings
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Instant, StoredRow
from serving_api.framework.threads import off_loop

CommandStatus = Literal["queued", "running", "success", "failed", "canceled"]


class CommandItem(StoredRow):
    """A command in the queue. `result` is its progress while it runs."""

    id: int
    command: str
    args: dict[str, Any]
    status: CommandStatus
    requested_by: str | None
    requested_at: Instant
    started_at: Instant
    finished_at: Instant
    run_id: str | None
    run_url: str | None
    result: dict[str, Any] | None
    message: str | None = Field(validation_alias="error")


class Canceled(BaseModel):
    """`running`: its run is interrupted."""

    id: int
    status: CommandStatus


def command_view(command: Command, settings: Settings) -> CommandItem:
    url = run_url(settings, command.run_id)
    return CommandItem.model_validate({**vars(command), "run_url": url, "result": command.result or None})


router = area_router(f"{PREFIX}/datamgr/commands", "datamgr: commands")

CommandId = Annotated[int, Path(ge=1, le=MAX_ID, description="id from the 202 answer")]


@router.get("", response_model=list[CommandItem])
@serves(top=[("total", int)])
async def commands(
    call: Admin,
    status: Annotated[CommandStatus | None, Query(description="only commands with this status")] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Commands, newest first."""
    queue = CommandQueue(call.state.reading.warehouse.engine)
    found, total = await off_loop(queue.recent, status=status, limit=limit)
    return Answer({"items": [command_view(item, call.state.settings) for item in found], "total": total})


@router.get("/{command_id}", response_model=CommandItem)
@serves(raises=(404,))
async def command(call: Admin, command_id: CommandId) -> Answer:
    """One command and its progress."""
    queue = CommandQueue(call.state.reading.warehouse.engine)
    return Answer(command_view(await off_loop(queue.get, command_id), call.state.settings))


@router.post("/{command_id}/cancel", response_model=Canceled)
@serves(raises=(404, 409))
async def cancel(call: Admin, command_id: CommandId) -> Answer:
    """A queued command is canceled at once, the run of a running one is interrupted."""
    canceled = await off_loop(CommandQueue(call.state.writer.engine).cancel, command_id)
    return Answer({"id": canceled.id, "status": canceled.status})
