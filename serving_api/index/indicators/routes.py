"""/fusion/index/indicator/{code} and /market/index-calendar: open to anyone, plain."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request

from core.days import moved
from platform_assets.compute.parameters.market_phase import MAIN_INDEX
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_since
from serving_api.framework.parameters import AsOfRead
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.index.indicators import queries, schemas, service
from serving_api.index.symbols import symbol_of

router = area_router(f"{PREFIX}/fusion/index", "index: indicators")
calendar_router = area_router(f"{PREFIX}/market", "market: index calendar")

_TABLES = (queries.INDICES, queries.INDUSTRIES)


@router.get("/indicator/{code}")
@serving(schemas.IndexIndicators, tables=_TABLES)
async def indicator(
    request: Request,
    subject: Anyone,
    code: Annotated[
        str, Path(description="index: sh000300, 000300; an industry: 801780", examples=["sh000300"])
    ],
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=30, le=750, description="newest trade dates")] = 120,
) -> Answer:
    """MA, MACD, KDJ, BOLL and RSI of an index by trade date."""
    own = symbol_of(code, "code")
    bound = None if as_of is None else as_of.bound
    read = state_of(request).reading.scan(queries.indicators, own, days, bound)
    items, name = await read_or(([], None), read)
    table = queries.table_of(own)
    answer = {
        "code": own,
        "name": name,
        "items": items,
        "latest": items[-1] if items else {},
        **await reach(state_of(request), table, len(items), asked=days, code=own, as_of=as_of),
    }
    return Answer(answer, top={} if as_of is None else {"as_of": as_of.echo})


@calendar_router.get("/index-calendar")
@serving(schemas.IndexCalendar, tables=_TABLES)
async def index_calendar(
    request: Request,
    subject: Anyone,
    code: Annotated[
        str, Query(max_length=16, description=f"index; empty: {MAIN_INDEX}", examples=["sh000300"])
    ] = "",
    days: Annotated[int, Query(ge=90, le=750, description="calendar days up to today")] = 365,
) -> Answer:
    """Daily changes of an index with their sums by month, from stored bars."""
    state = state_of(request)
    own = symbol_of(code, "code") if code.strip() else MAIN_INDEX
    since = moved(state.clock.now().date().isoformat(), 1 - days)
    bars = await read_or([], state.reading.scan(queries.bars_since, own, since))
    history = await reach_since(state, queries.table_of(own), len(bars), since, code=own)
    return Answer(
        {"code": own, "name": bars[-1]["name"] if bars else None, **service.calendar(bars), **history}
    )
