"""Sends a command to the worker, and waits for it without blocking a thread."""

from collections.abc import Mapping
from typing import Any, Literal

import anyio
from pydantic import BaseModel

from resources.warehouse.ledger.commands import POLL_S, Command, CommandQueue
from serving_api.framework.openapi import enveloped
from serving_api.framework.responses import Answer, EarlyAnswer
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


class AcceptedCommand(BaseModel):
    status: Literal["accepted"]
    command_id: int
    message: str


LATER: dict[int | str, dict[str, Any]] = {
    202: {"model": enveloped(AcceptedCommand), "description": "takes longer; follow the command"}
}
"""`responses` of a route whose command may take longer than a request waits."""


async def carried_out(
    state: State, command: str, args: Mapping[str, Any], asked_by: str, *, meanwhile: str
) -> Command:
    """The finished command. After COMMAND_WAIT_SEC the route answers 202 with the text `meanwhile`
    (EarlyAnswer). Raises StorageError."""
    queue = CommandQueue(state.writer.engine)
    asked = await off_loop(queue.enqueue, command, args, requested_by=asked_by)
    looks = CommandQueue(state.reading.warehouse.engine)
    with anyio.move_on_after(state.settings.command_wait_sec):
        while True:
            found = await off_loop(looks.get, asked.id)
            if found.finished:
                return found
            await anyio.sleep(POLL_S)
    accepted = {"status": "accepted", "command_id": asked.id, "message": meanwhile}
    raise EarlyAnswer(Answer(accepted, status_code=202))


def failure(command: Command) -> str | None:
    """Why a finished command did not succeed; None when it did."""
    if command.status == "success":
        return None
    return command.error or f"the command ended as {command.status}"
