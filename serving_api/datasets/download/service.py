"""Downloads as commands: requested from the worker, awaited without blocking a thread."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import StorageError
from resources.warehouse.ledger.commands import Command
from serving_api.admin.waiting import carried_out
from serving_api.datasets.download import answer, market
from serving_api.datasets.download.types import NORTHBOUND, expand, split
from serving_api.framework.state import State

COMMAND = "download"
AWAY = "数据库不可用，下载未执行"
ACCEPTED = "下载仍在后台执行，请稍后用 command_id 查询结果"


async def download(
    state: State, codes: Sequence[str], requested: Sequence[str], asked_by: str, *, by_code: bool
) -> dict[str, Any]:
    """The response for valid types. `by_code`: details by code, then type; else by type only (one code).
    Raises Accepted."""
    every = expand(requested)
    types = split([name for name in every if name != NORTHBOUND])
    reported: Mapping[str, Any] = {"types": {}, "fusion": None}
    if types.built:
        try:
            args = {"codes": list(codes), "types": types.built}
            command = await carried_out(state, COMMAND, args, asked_by, meanwhile=ACCEPTED)
        except StorageError:
            return answer.failed(AWAY)
        reported = _reported(command, types.built)
    details = answer.details_of(codes, reported["types"], types.missing)
    if NORTHBOUND in every:
        part = answer.market_part(await market.download(state, NORTHBOUND, None, asked_by))
        details = {code: {**kinds, NORTHBOUND: part} for code, kinds in details.items()}
    parts = [part for kinds in details.values() for part in kinds.values()]
    shown: Mapping[str, Any] = details if by_code else details[codes[0]]
    return answer.whole(shown, parts, answer.fusion_of(reported.get("fusion")))


def _reported(command: Command, types: Sequence[str]) -> Mapping[str, Any]:
    """The command's result per type; when the command failed as a whole every type failed, and so has a
    type without a result."""
    message = command.error or f"the command ended as {command.status}, without a word about this type"
    reported = command.result if command.status == "success" else {}
    failed = {name: {"status": "failed", "message": message} for name in types}
    return {"types": {**failed, **reported.get("types", {})}, "fusion": reported.get("fusion")}
