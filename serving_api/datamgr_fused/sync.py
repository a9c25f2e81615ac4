"""Asking for a fusion: of the whole market under the three domain locks, or of some codes."""

import threading
from collections.abc import Sequence
from typing import Any

from resources.errors import ConflictError
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.locks import DomainLocks
from serving_api.datamgr.shared import off_loop
from serving_api.state import State

COMMAND = "fusion_sync"
OPEN = ("queued", "running")


async def request_sync(state: State, codes: Sequence[str] | None, asked_by: str) -> dict[str, Any]:
    """The body of the 202. Raises ConflictError when a domain is locked or a full fusion is under way
    (full market only)."""
    wanted = None if codes is None else list(codes)
    command = await off_loop(_enqueue, state, state.part(Turn), wanted, asked_by)
    full = codes is None
    return {
        "status": "accepted",
        "mode": "full_market" if full else "codes",
        "message": "已接受全市场融合任务，后台执行"
        if full
        else f"已接受 {len(codes or ())} 只股票的融合任务",
        "codes": list(codes or ()),
        "command_id": command.id,
        "batch_id": None,
    }


class Turn:
    """Kept once per app: two requests for the whole market do not both find it free."""

    def __init__(self, _state: State) -> None:
        self.lock = threading.Lock()


def _enqueue(state: State, turn: Turn, codes: list[str] | None, asked_by: str) -> Command:
    queue = CommandQueue(state.writer.engine)
    if codes is not None:
        return queue.enqueue(COMMAND, {"codes": codes}, requested_by=asked_by)
    with turn.lock:
        _refuse_second(state, queue)
        return queue.enqueue(COMMAND, {}, requested_by=asked_by)


def _refuse_second(state: State, queue: CommandQueue) -> None:
    held = next((lock for lock in DomainLocks(state.writer.engine).states() if lock.held), None)
    if held is not None:
        raise ConflictError(f"domain lock: {held.domain} is held by {held.owner}")
    waiting = next((one for one in queue.of_name(COMMAND, statuses=OPEN) if not one.args.get("codes")), None)
    if waiting is not None:
        raise ConflictError(f"a full fusion is {waiting.status} already: command {waiting.id}")
