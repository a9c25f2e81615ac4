"""Reads of the command queue, and cancellation."""

from typing import Any

from resources.orchestrator import run_url
from resources.settings import Settings
from resources.warehouse.ledger.commands import Command, CommandQueue
from serving_api.admin.shared import instant, off_loop
from serving_api.framework.state import State


def command_view(command: Command, settings: Settings) -> dict[str, Any]:
    return {
        "id": command.id,
        "command": command.command,
        "args": command.args,
        "status": command.status,
        "requested_by": command.requested_by,
        "requested_at": instant(command.requested_at),
        "started_at": instant(command.started_at),
        "finished_at": instant(command.finished_at),
        "run_id": command.run_id,
        "run_url": run_url(settings, command.run_id),
        "result": command.result or None,
        "message": command.error,
    }


async def commands(state: State, *, status: str | None, limit: int) -> dict[str, Any]:
    """{items[CommandItem], total}, newest first."""
    queue = CommandQueue(state.reading.warehouse.engine)
    found, total = await off_loop(queue.recent, status=status, limit=limit)
    return {"items": [command_view(item, state.settings) for item in found], "total": total}


async def command(state: State, command_id: int) -> dict[str, Any]:
    """One command. Raises NotFound."""
    queue = CommandQueue(state.reading.warehouse.engine)
    return command_view(await off_loop(queue.get, command_id), state.settings)


async def cancel(state: State, command_id: int) -> dict[str, Any]:
    """Raises NotFound; ConflictError when it is finished."""
    canceled = await off_loop(CommandQueue(state.writer.engine).cancel, command_id)
    return {"id": canceled.id, "status": canceled.status}
