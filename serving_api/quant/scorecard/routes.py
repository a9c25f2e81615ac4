"""/scorecard/* and /builtin-strategies*: open to anyone, plain."""

from typing import Annotated, Literal

from fastapi import Depends, Path, Query

from core.errors import InputError, NotFound
from platform_assets.compute.parameters.scorecards import BOARD_SIZE, CARD_HORIZON, HOLD_DAYS
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_of_days
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.quant.scorecard import queries, schemas, service
from serving_api.quant.scorecard.sources import (
    BARS,
    BUILTIN,
    BY_DATE,
    CARDS,
    DECISION,
    GROUP_LABELS,
    HITS,
    INDEX,
    PHASES,
    PRESET,
    STRATEGY,
    TABLES,
)
from serving_api.table_lists import Page, TradeDay

router = area_router(f"{PREFIX}/scorecard", "scorecard")
builtin_router = area_router(f"{PREFIX}/builtin-strategies", "scorecard")

SourceKey = Literal["builtin", "preset", "decision", "strategy"]
Requested = Annotated[SourceKey, Query(description="where the picks come from")]
Days90 = Annotated[int, Query(ge=1, le=750, description="newest trade dates")]
PICKS = (TABLES[BUILTIN].name, TABLES[PRESET].name, CARDS, HITS, BY_DATE, BARS, INDEX)
"""Tables behind the outcomes of strategy hits (bars and index), which are calculated when they are read."""
BOARD_DAYS = 90
_OF = {**{source: table.name for source, table in TABLES.items()}, DECISION: CARDS, STRATEGY: HITS}
"""Source -> the table of its picks."""


def _check_group(source: str, group: str | None) -> None:
    """Raises InputError for a group that the source does not have; groups of cards are not known before."""
    known = GROUP_LABELS.get(source)
    if group is not None and known is not None and group not in known:
        raise InputError("group", f"{group!r} is no group of {source}; one of {', '.join(known)}")


@router.get("/sources", response_model=schemas.PickSources)
@serves(tables=PICKS)
async def sources(call: Anyone) -> Answer:
    """Sources of picks, with their groups."""
    return Answer({"items": await read_or([], call.state.reading.scan(service.sources))})


@router.get("/overview", response_model=schemas.ScorecardOverview)
@serves(tables=PICKS)
async def overview(
    call: Anyone,
    source: Annotated[SourceKey | None, Query(description="default: all")] = None,
    days: Days90 = 90,
) -> Answer:
    """The results of the picks of each group, with and without picks whose purchase was not possible."""
    state = call.state
    requested = (*TABLES, DECISION, STRATEGY) if source is None else (source,)
    read = state.reading.scan(service.overview, requested, state.since(days))
    items, newest = await read_or(([], None), read)
    held = CARD_HORIZON if source == DECISION else HOLD_DAYS
    history = await reach_of_days(state, [_OF[one] for one in requested], days)
    return Answer({"items": items, "hold_days": held, "as_of": newest, **history})


@router.get("/picks", response_model=schemas.PickPage)
@serves(tables=PICKS)
async def picks(
    call: Anyone,
    source: Requested,
    date: TradeDay,
    group: Annotated[str | None, Query(max_length=32, description="board, preset or source of cards")] = None,
    status: Annotated[
        Literal["pending", "partial", "reviewed"] | None, Query(description="state of the review")
    ] = None,
    page: Page = 1,
    page_size: Annotated[int, Query(alias="pageSize", ge=10, le=200, description="rows of a page")] = 50,
) -> Answer:
    """Picks of one source, newest date first."""
    _check_group(source, group)
    if status is not None and source == STRATEGY:
        raise InputError("status", "hits of strategies are reviewed when they are read; leave it out")
    state = call.state
    offset = (page - 1) * page_size
    read = state.reading.scan(queries.page, state.calendar, source, group, date, status, page_size, offset)
    items, total = await read_or(([], 0), read)
    history = await reach(state, _OF[source], total, day=date)
    return Answer({"items": items, "total": total, "page": page, "pageSize": page_size, **history})


@router.get("/breakdown", response_model=schemas.PickBreakdown)
@serves(tables=(*PICKS, PHASES))
async def breakdown(
    call: Anyone,
    source: Requested,
    by: Annotated[
        Literal["month", "industry", "phase", "rank", "board"],
        Query(description="phase: of the market on the date; rank: in fives; board: of listing"),
    ] = "month",
    days: Annotated[int, Query(ge=1, le=750, description="newest trade dates")] = 180,
) -> Answer:
    """The picks of one source by month, industry, phase of the market, rank or board of listing."""
    state = call.state
    items = await read_or([], state.reading.scan(service.breakdown, source, by, state.since(days)))
    return Answer({"by": by, "items": items, **await reach_of_days(state, (_OF[source],), days)})


@router.get("/record", response_model=schemas.PickRecord)
@serves(tables=PICKS)
async def record(
    call: Anyone,
    source: Annotated[
        Literal["builtin", "preset"], Query(description="of strategies: /quant/strategies/{key}/validation")
    ],
    group: Annotated[str | None, Query(max_length=32, description="board or preset; default: all")] = None,
    days: Days90 = 90,
) -> Answer:
    """What followed the picks of a board or a preset: statistics, curve against the CSI 300, by month."""
    _check_group(source, group)
    state = call.state
    read = state.reading.scan(service.record, source, group, state.since(days))
    found = await read_or(service.no_record(), read)
    history = await reach_of_days(state, (_OF[source],), days)
    return Answer({"source": source, "group": group, **found, **history})


@router.get("/stock/{code}", response_model=schemas.StockPicks)
@serves(tables=PICKS)
async def stock(
    call: Anyone,
    code: StockCode,
    days: Annotated[int, Query(ge=1, le=750, description="newest trade dates")] = 365,
) -> Answer:
    """Every time that a stock was picked, newest first."""
    state = call.state
    read = state.reading.scan(service.of_stock, state.calendar, code, state.since(days))
    found = await read_or(service.stock_picks(code, []), read)
    # First date of the tables, not of the stock: only they show that it was not picked earlier.
    return Answer({**found, **await reach_of_days(state, list(_OF.values()), days)})


@builtin_router.get("", response_model=schemas.StrategyCards)
@serves(tables=(TABLES[BUILTIN].name,))
async def strategies(call: Anyone) -> Answer:
    """The three built-in strategies with their record of the last 90 trade dates."""
    state = call.state
    read = state.reading.scan(service.strategies, state.since(BOARD_DAYS))
    found = await read_or(service.strategy_cards({}, {}), read)
    history = await reach_of_days(state, (_OF[BUILTIN],), BOARD_DAYS)
    return Answer({"items": found, **history})


async def _known(key: Annotated[str, Path(max_length=32, description="dragon, tactic, composite")]) -> str:
    if key not in GROUP_LABELS[BUILTIN]:
        raise NotFound(f"no built-in strategy {key!r}; one of {', '.join(GROUP_LABELS[BUILTIN])}")
    return key


Key = Annotated[str, Depends(_known)]


@builtin_router.get("/{key}/board", response_model=schemas.StrategyBoard)
@serves(tables=(TABLES[BUILTIN].name, BARS), raises=(404,))
async def board(
    call: Anyone,
    date: TradeDay,
    key: Key,
    limit: Annotated[int, Query(ge=1, le=BOARD_SIZE, description="rows")] = BOARD_SIZE,
) -> Answer:
    """The board of a strategy on a date, or its newest."""
    day, items, total = await read_or((date, [], 0), call.state.reading.scan(queries.board, key, date, limit))
    history = await reach(call.state, _OF[BUILTIN], total, day=date)
    return Answer({"key": key, "date": day, "items": items, "total": total, **history})


@builtin_router.get("/{key}/performance", response_model=schemas.StrategyPerformance)
@serves(tables=(TABLES[BUILTIN].name,), raises=(404,))
async def performance(call: Anyone, key: Key, days: Days90 = 90) -> Answer:
    """Statistics of a strategy's picks, their curve against the CSI 300, and the newest of them."""
    state = call.state
    nothing = service.no_performance(key)
    found = await read_or(nothing, state.reading.scan(service.performance, key, state.since(days)))
    return Answer({**found, **await reach_of_days(state, (_OF[BUILTIN],), days)})
