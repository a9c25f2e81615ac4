"""/datamgr/commands."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel

from core.records import picked
from resources.orchestrator import run_url
from resources.settings import Settings
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import columns_of
from serving_api.framework.threads import off_loop

CommandStatus = Literal["queued", "running", "success", "failed", "canceled"]


@columns_of(
    "sys_command",
    "id command! args=args_json status requested_by requested_at started_at=claimed_at finished_at run_id",
)
class CommandItem(BaseModel):
    """A command in the queue. `result` is its progress while it runs."""

    args: dict[str, Any]
    status: CommandStatus
    run_url: str | None
    result: dict[str, Any] | None
    message: str | None


class Canceled(BaseModel):
    """`running`: it stops at its next safe point."""

    id: int
    status: CommandStatus


def command_view(command: Command, settings: Settings) -> dict[str, Any]:
    return {
        **picked(command, "id command args status requested_by run_id message=error"),
        **picked(command, "requested_at started_at finished_at", instant),
        "run_url": run_url(settings, command.run_id),
        "result": command.result or None,
    }


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
    """A queued command is canceled at once, a running one stops at its next safe point."""
    canceled = await off_loop(CommandQueue(call.state.writer.engine).cancel, command_id)
    return Answer({"id": canceled.id, "status": canceled.status})
