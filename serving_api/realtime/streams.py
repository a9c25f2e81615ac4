"""/realtime/stream and /realtime/quote-stream: Server-Sent Events, open to anyone."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Header, Query
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.responses import Response

from core.errors import InputError
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import parse_codes
from serving_api.framework.permissions import Anyone
from serving_api.framework.routing import area_router
from serving_api.realtime.hub import QuoteHub, Subscription, hub_of

router = area_router(f"{PREFIX}/realtime", "realtime")

COMMENT_S = 15.0
MOST_SYMBOLS = 100
_HEADERS = {"Cache-Control": NO_STORE, "X-Accel-Buffering": "no"}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-Sent Events", "content": {"text/event-stream": {}}}
}


@router.get("/stream", cache=NO_STORE, stream=True, responses=_STREAM)
async def stream(call: Anyone) -> Response:
    """Event `quotes_updated` when a watched quote or a main index changed: {ts, count, codes, trade_state,
    indices}. A comment line every 15 seconds."""
    hub = call.state.part(hub_of)
    return EventSourceResponse(_events(hub, hub.listen_market(), "quotes_updated"), headers=_HEADERS)


@router.get("/quote-stream", cache=NO_STORE, stream=True, responses=_STREAM)
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
    hub = call.state.part(hub_of)
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
