"""/realtime/stream and /realtime/quote-stream: Server-Sent Events, open to anyone."""

import asyncio
from collections.abc import AsyncIterator
from enum import IntEnum
from typing import Annotated, Any

from fastapi import Header, Query
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.responses import Response

from core.calendar import CalendarHorizon
from core.clock import local_iso
from core.errors import InputError
from resources.transport.settings import PUSH2EX_BREAKER
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import StockCode, parse_codes
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.threads import off_loop
from serving_api.live.admin_reads.changes import Changes
from serving_api.live.admin_reads.queries import FLOW
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import transport_state
from serving_api.live.session_state import next_bounds, session_state
from serving_api.market.routes import answer, read
from serving_api.realtime import schemas
from serving_api.realtime.abnormal_moves import AbnormalMoves, body_of, clamped
from serving_api.realtime.hub import QuoteHub, Subscription
from serving_api.realtime.money_flow import DailyFlows

router = area_router(f"{PREFIX}/realtime", "realtime")


BREAKER_TTL = 1.0
"""The state of the breakers is read from a file, once per second for all requests."""


class Market(IntEnum):
    """Stocks of which exchange."""

    sh = 10
    all = 20
    sz = 30


_EXCHANGES = {Market.sh: ("SH",), Market.all: ("SH", "SZ", "BJ"), Market.sz: ("SZ",)}


@router.get("/hot-stocks", response_model=schemas.HotStocks)
@serves(cache=NO_STORE)
async def hot_stocks(
    call: Anyone,
    limit: Annotated[int, Query(ge=1, le=100, description="stocks of the list")] = 20,
    market: Annotated[Market, Query(description="10 Shanghai, 20 all, 30 Shenzhen")] = Market.all,
) -> Answer:
    """The most traded stocks of the session."""
    found = await read(call.state, "hot_stocks")
    rows = [row for row in found.body["items"] if row["market"] in _EXCHANGES[market]]
    items = [
        {"rank": rank, **{name: value for name, value in row.items() if name != "market"}}
        for rank, row in enumerate(rows[:limit], start=1)
    ]
    return answer(call.state, found, {"items": items, "total": len(items)})


@router.get("/sector-treemap", response_model=schemas.TreeMap)
@serves(cache=NO_STORE)
async def sector_treemap(
    call: Anyone,
    children: Annotated[int, Query(ge=0, le=1000, description="largest stocks of each industry")] = 30,
) -> Answer:
    """Industries by market cap, each with its largest stocks."""
    found = await read(call.state, "sector_treemap")
    items = [{**sector, "children": sector["children"][:children]} for sector in found.body["items"]]
    return answer(call.state, found, {**found.body, "items": items})


@router.get("/trading-time", response_model=schemas.TradingTime)
@serves(cache=NO_STORE)
async def trading_time(call: Anyone) -> Answer:
    """Whether the market trades now, and when trading starts and ends next."""
    now, calendar = call.state.clock.now(), call.state.calendar
    opens, closes = next_bounds(now, calendar)
    reported = {
        "now": local_iso(now),
        "next_open": opens and local_iso(opens),
        "next_close": closes and local_iso(closes),
    }
    try:
        where = session_state(now, calendar)
        is_trade_day = calendar.is_trade_date(now.date().isoformat())
    except CalendarHorizon:
        return Answer({"is_trading": None, "state": None, "is_trade_day": None, **reported})
    return Answer(
        {"is_trading": where == "trading", "state": where, "is_trade_day": is_trade_day, **reported}
    )


@router.get("/money-flow/{code}", response_model=schemas.MoneyFlow)
@serves(cache=NO_STORE)
async def money_flow(
    call: Anyone, code: StockCode, days: Annotated[int, Query(ge=1, le=120, description="trade dates")] = 20
) -> Answer:
    """Money flow of a stock by date, that of the running session included, oldest first."""
    found = await call.state.part(DailyFlows).of(code, days)
    history = await reach(call.state, FLOW, len(found.value), asked=days, code=code)
    newest = found.value[-1]["date"] if found.value else None
    body = {"code": code, "items": found.value, "trade_date": newest, "_source": found.source, **history}
    return Answer(body, headers=found.headers)


@router.get("/stock-changes", response_model=schemas.StockChanges)
@serves(cache=NO_STORE)
async def stock_changes(
    call: Anyone, limit: Annotated[int, Query(ge=1, le=500, description="newest events")] = 100
) -> Answer:
    """Intraday anomalies of the session; the last good ones of today while the portal is unavailable."""
    state = call.state
    answer, stale = await state.part(Changes).newest_or_last(limit)
    held = await state.part(live_of).single_flight.take(
        "breakers", BREAKER_TTL, lambda: off_loop(transport_state, state.settings)
    )
    breaker = held.value["breakers"][PUSH2EX_BREAKER]["state"]
    body = {
        "items": answer.value,
        "total": len(answer.value),
        "stale": stale,
        "breaker": {"state": breaker},
        "timestamp": local_iso(answer.at or state.clock.now()),
        **answer.facts,
    }
    return Answer(body, headers=answer.headers)


@router.get("/abnormal-moves", response_model=schemas.AbnormalMoves)
@serves(cache=NO_STORE)
async def abnormal_moves(
    call: Anyone,
    limit: Annotated[int, Query(description="items of each kind; clamped to 5..50")] = 20,
    use_cache: Annotated[bool, Query(description="false: ask the sources again")] = True,
) -> Answer:
    """Yesterday's limit-ups in the opening auction, the newest intraday anomalies, and the listings of the
    billboard for a deviation of the price. Each part has its own age and its own errors."""
    state = call.state
    begun = state.system.monotonic()
    moves = state.part(AbnormalMoves)
    status, pool_day = moves.status()
    auction, intraday, deviation = await asyncio.gather(
        moves.auction(status, pool_day, use_cache=use_cache),
        moves.intraday(use_cache=use_cache),
        moves.deviation(use_cache=use_cache),
    )
    parts = {"auction": auction, "intraday": intraday, "deviation": deviation}
    return Answer(
        {
            "generated_at": local_iso(state.clock.now()),
            "elapsed_s": round(state.system.monotonic() - begun, 3),
            "trade_date": state.part(live_of).session(),
            "failed": [name for name, part in parts.items() if part.failed],
            **body_of(status, pool_day, parts, clamped(limit)),
        }
    )


COMMENT_S = 15.0
MOST_SYMBOLS = 100
_HEADERS = {"Cache-Control": NO_STORE, "X-Accel-Buffering": "no"}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-Sent Events", "content": {"text/event-stream": {}}}
}


@router.get("/stream", responses=_STREAM)
@serves(cache=NO_STORE, stream=True)
async def stream(call: Anyone) -> Response:
    """Event `quotes_updated` when a watched quote or a main index changed: {ts, count, codes, trade_state,
    indices}. A comment line every 15 seconds."""
    hub = call.state.part(QuoteHub)
    return EventSourceResponse(_events(hub, hub.listen_market(), "quotes_updated"), headers=_HEADERS)


@router.get("/quote-stream", responses=_STREAM)
@serves(cache=NO_STORE, stream=True)
async def quote_stream(
    call: Anyone,
    symbols: Annotated[str, Query(description="1 to 100 codes, comma-separated", examples=["600519,000001"])],
    last_event_id: Annotated[str | None, Query(description="resume after this id")] = None,
    last_event_id_header: Annotated[
        str | None, Header(alias="Last-Event-ID", description="resume after this id")
    ] = None,
) -> Response:
    """Event `quote` per symbol with its full quote; a client can resume by id. Missed events are sent when
    the log reaches back so far, else one full state."""
    codes = parse_codes(symbols, MOST_SYMBOLS, "symbols")
    last = _event_id(last_event_id_header if last_event_id is None else last_event_id)
    hub = call.state.part(QuoteHub)
    return EventSourceResponse(_events(hub, hub.listen(codes, last), "quote"), headers=_HEADERS)


def _event_id(text: str | None) -> int | None:
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= len("9007199254740991")):
        raise InputError("last_event_id", "an id of an event of this stream is a number")
    return int(text)


async def _events(hub: QuoteHub, subscription: Subscription, name: str) -> AsyncIterator[bytes]:
    """Frames until the client disconnects or the service stops."""
    try:
        yield format_sse_event(comment="stream open")
        while (events := await subscription.take(COMMENT_S)) is not None:
            if not events:
                yield format_sse_event(comment="keep-alive")
            for event in events:
                yield format_sse_event(event=name, id=str(event.id), data_str=event.text)
    finally:
        hub.leave(subscription)
