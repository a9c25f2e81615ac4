"""/sectors: anyone."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.live.admin_reads.flows import minute_flow
from serving_api.live.admin_reads.schemas import FlowMinute
from serving_api.live.admin_reads.service import FLOW_TTL, Live, live_of
from serving_api.live.clients import EASTMONEY, Answered
from serving_api.live.frame_values import is_empty
from serving_api.live.queries import BLOCKS

router = area_router(f"{PREFIX}/sectors", "sectors")

BoardCode = Annotated[
    str, Path(pattern=r"^BK[0-9]{4}$", description="the portal's code of a board", examples=["BK0475"])
]


class BoardMinute(FlowMinute):
    change_pct: float | None = Field(description="null: the source of the flows does not have it")


class BoardFlow(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    board_code: str
    name: str | None
    items: list[BoardMinute]
    source: str | None = Field(alias="_source")


@router.get("/{board_code}/flow-minute", response_model=BoardFlow)
@serves(cache=NO_STORE)
async def flow_minute(call: Anyone, board_code: BoardCode) -> Answer:
    """Money flow of a board by minute; no items for an unknown board, or when the source does not answer."""
    answer = await _flow(call.state.part(live_of), board_code)
    payload: dict[str, Any] = {
        "board_code": board_code,
        "name": await read_or(None, call.state.reading.point(board_name, board_code)),
        "items": answer.value,
        "_source": answer.origin if answer.value else None,
    }
    return Answer(payload, headers=answer.headers)


async def _flow(live: Live, board_code: str) -> Answered:
    """Minutes of a board, shared for half a minute; none when the portal does not answer."""

    async def ask() -> Answered:
        answer = await live.clients.ask(
            {EASTMONEY: lambda client: client.board_flow_minutes(board_code)}, empty=is_empty
        )
        return answer.shaped([{**row, "change_pct": None} for row in minute_flow(answer.value)])

    return await live.reported(("board flow", board_code), FLOW_TTL, ask, [])


def board_name(session: Session, board_code: str) -> str | None:
    """The name of a board, if it has a stock."""
    return session.first(BLOCKS, "block_name", BLOCKS.c.block_code == board_code)
