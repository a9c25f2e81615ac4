"""Requests of a fusion: of the whole market under the three domain locks, or of some codes."""

from collections.abc import Sequence
from typing import Any

from core.errors import ConflictError
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.locks import DomainLocks
from serving_api.admin.shared import off_loop
from serving_api.framework.state import State

COMMAND = "fusion_sync"
OPEN = ("queued", "running")


async def request_sync(state: State, codes: Sequence[str] | None, asked_by: str) -> dict[str, Any]:
    """The body of the 202. Raises ConflictError when a domain is locked or a full fusion is under way
    (full market only)."""
    requested = None if codes is None else list(codes)
    command = await off_loop(_enqueue, state, requested, asked_by)
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


def _enqueue(state: State, codes: list[str] | None, asked_by: str) -> Command:
    queue = CommandQueue(state.writer.engine)
    if codes is not None:
        return queue.enqueue(COMMAND, {"codes": codes}, requested_by=asked_by)
    held = next((lock for lock in DomainLocks(state.writer.engine).states() if lock.held), None)
    if held is not None:
        raise ConflictError(f"domain lock: {held.domain} is held by {held.owner}")
    return queue.enqueue_alone(COMMAND, {}, requested_by=asked_by, about="full", same=_is_full)


def _is_full(command: Command) -> bool:
    return not command.args.get("codes")
