"""/datamgr/watch-list: the securities that this installation loads instead of the whole market. Admin,
enveloped."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from core.clock import local_iso
from core.errors import ConflictError, InputError
from core.market.symbols import INDEX_NAMES, dataset_code
from resources.transport.settings import transport_settings
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.watch_costs import calls_of_codes
from resources.warehouse.ledger.watch_list import LOAD_WATCHED, WatchList, is_index
from serving_api.admin.shared import parse_day
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

MOST_CODES = 500
YEARS = 10
"""Of a history whose first day nobody named."""
_SECURITY = re.compile(r"\d{6}")


class WatchRequest(BaseModel):
    """Codes in any notation (600519, sh600519, 600519.SH; indices as 000300.SH)."""

    model_config = example(extra="forbid", codes=["600519", "510300", "000300.SH"], since="2016-01-01")
    codes: Annotated[list[Annotated[str, Field(max_length=32)]], Field(min_length=1, max_length=MOST_CODES)]
    since: Annotated[str | None, Field(max_length=32)] = Field(
        default=None, description="first day of the history; default: ten years ago"
    )


class WatchPlan(BaseModel):
    """What loading the history of the codes costs, by the calls that a load of the simulated market makes."""

    codes: list[str] = Field(description="as the datasets write them")
    since: str
    calls: dict[str, int] = Field(description="calls by upstream")
    minutes: float = Field(description="under the pacing of the upstreams, one call after the other")


class WatchedItem(BaseModel):
    code: str
    since: str = Field(description="first day of its history")
    loaded_until: str | None = Field(description="trade date up to which it is loaded; null: not yet")
    added_by: str
    added_at: str


class Accepted(BaseModel):
    status: Literal["accepted"]
    command_id: int
    codes: list[str]
    since: str


def wish_of(state: State, codes: Sequence[str], since: str | None) -> tuple[list[str], str]:
    """(codes as the datasets write them, first day). Raises InputError for what is no code or no day."""
    first = since or f"{int(state.today[:4]) - YEARS}-01-01"
    return list(dict.fromkeys(map(watched_code, codes))), parse_day("since", first, state.today)


def watched_code(text: str) -> str:
    """The code of a stock, fund, bond or held index in any notation. Raises InputError."""
    code = dataset_code(text)
    if code in INDEX_NAMES or _SECURITY.fullmatch(code):
        return code
    raise InputError("codes", f"{text[:20]!r} is no code; stocks and funds as 600519, indices of "
                              f"{', '.join(INDEX_NAMES)}")  # fmt: skip


def plan_of(state: State, codes: list[str], since: str) -> dict[str, Any]:
    """The model `WatchPlan`."""
    indices = sum(map(is_index, codes))
    first, today = date.fromisoformat(since), date.fromisoformat(state.today)
    calls = calls_of_codes(len(codes) - indices, indices, (today - first).days / 365.25)
    paces = transport_settings(state.settings)
    seconds = sum(paces.seconds(name, number) for name, number in calls.items())
    return {"codes": codes, "since": since, "calls": calls, "minutes": round(seconds / 60, 1)}


def refuse_whole_market(state: State) -> None:
    """ConflictError where the installation loads the whole market."""
    if not WatchList(state.writer.engine).all():
        raise ConflictError("this installation has no watch list: it loads the whole market")


router = area_router(f"{PREFIX}/datamgr", "datamgr: watch list")


@router.get("/watch-list", response_model=list[WatchedItem])
@serves(top=[("total", int)])
async def watch_list(call: Admin) -> Answer:
    """The watched securities in the order in which they were added; none: the whole market is loaded."""
    watched = await off_loop(WatchList(call.state.reading.warehouse.engine).all)
    items = [{**vars(one), "added_at": local_iso(one.added_at)} for one in watched]
    return Answer({"items": items, "total": len(items)})


@router.post("/watch-list", response_model=Accepted, status_code=202)
@serves(raises=(409,))
async def add(call: Admin, body: WatchRequest) -> Answer:
    """Put securities on the watch list and load what belongs to them, in the background. One that is on it is
    loaded again."""
    codes, since = wish_of(call.state, body.codes, body.since)
    await off_loop(refuse_whole_market, call.state)
    args = {"codes": codes, "since": since}
    queue = CommandQueue(call.state.writer.engine)
    command = await off_loop(queue.enqueue, LOAD_WATCHED, args, requested_by=call.member.username)
    return Answer({"status": "accepted", "command_id": command.id, **args}, status_code=202)


@router.post("/watch-list/plan", response_model=WatchPlan)
@serves()
async def plan(call: Admin, body: WatchRequest) -> Answer:
    """What loading securities costs. Starts nothing."""
    return Answer(plan_of(call.state, *wish_of(call.state, body.codes, body.since)))
