"""Downloads as commands: asked of the worker, waited for without holding a thread."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from resources.errors import StorageError
from resources.warehouse.ledger.commands import POLL_S, Command, CommandQueue
from serving_api.datamgr.shared import off_loop
from serving_api.datamgr_download import answer
from serving_api.datamgr_download.types import NORTHBOUND, expand, split
from serving_api.state import State

COMMAND = "download"
AWAY = "数据库不可用，下载未执行"
ACCEPTED = "下载仍在后台执行，请稍后用 command_id 查询结果"


class Accepted(Exception):
    """The command takes longer than a request may wait."""

    def __init__(self, command_id: int) -> None:
        super().__init__(command_id)
        self.body = {"status": "accepted", "command_id": command_id, "message": ACCEPTED}


async def download(
    state: State, codes: Sequence[str], wanted: Sequence[str], asked_by: str, *, by_code: bool
) -> dict[str, Any]:
    """The answer for valid types. `by_code`: details of code, then type; else of type alone (one code).
    Raises Accepted."""
    types = split(expand(wanted))
    told: Mapping[str, Any] = {"types": {}, "fusion": None}
    if types.built:
        try:
            command = await _carried_out(state, {"codes": list(codes), "types": types.built}, asked_by)
        except StorageError:
            return answer.failed(AWAY)
        told = _told(command, types.built)
    details = answer.details_of(codes, told["types"], types.missing)
    parts = [part for kinds in details.values() for part in kinds.values()]
    shown: Mapping[str, Any] = details if by_code else details[codes[0]]
    return answer.whole(shown, parts, answer.fusion_of(told.get("fusion")))


def northbound() -> dict[str, Any]:
    """The market-level type; it has no dataset yet, and says so."""
    return {**answer.missing_part(NORTHBOUND), "latestDate": None, "channels": []}


async def _carried_out(state: State, args: Mapping[str, Any], asked_by: str) -> Command:
    """The finished command. Raises Accepted after COMMAND_WAIT_SEC, StorageError."""
    queue = CommandQueue(state.writer.engine)
    command = await off_loop(queue.enqueue, COMMAND, args, requested_by=asked_by)
    looks = CommandQueue(state.reading.warehouse.engine)
    with anyio.move_on_after(state.settings.command_wait_sec):
        while True:
            command = await off_loop(looks.get, command.id)
            if command.finished:
                return command
            await anyio.sleep(POLL_S)
    raise Accepted(command.id)


def _told(command: Command, types: Sequence[str]) -> Mapping[str, Any]:
    """What the command says of its types; a command that failed as a whole failed each of them, and a type
    that it says nothing of has failed too."""
    message = command.error or f"the command ended as {command.status}, without a word about this type"
    told = command.result if command.status == "success" else {}
    failed = {name: {"status": "failed", "message": message} for name in types}
    return {"types": {**failed, **told.get("types", {})}, "fusion": told.get("fusion")}
