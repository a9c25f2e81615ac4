"""/stocks/{code}/intraday: open to anyone, enveloped."""

from enum import StrEnum
from typing import Annotated

from fastapi import Query

from serving_api.db.single_flight import STALE
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.stocks.intraday import schemas
from serving_api.stocks.intraday.intraday import client_ttl, intraday

router = area_router(f"{PREFIX}/stocks", "stocks")


class IntradayPeriod(StrEnum):
    """Length of a bar."""

    m1 = "1m"
    m5 = "5m"
    m15 = "15m"
    m30 = "30m"
    m60 = "60m"


def _cache_control(state: State) -> str:
    return f"public, max-age={client_ttl(state.clock.now(), state.calendar)}"


@router.get("/{code}/intraday", schemas.Intraday, cache=_cache_control)
async def read_intraday(
    call: Anyone,
    code: StockCode,
    period: Annotated[IntradayPeriod, Query(description="length of a bar")] = IntradayPeriod.m5,
    days: Annotated[int, Query(ge=1, le=30, description="newest trade dates")] = 1,
    use_cache: Annotated[bool, Query(description="false asks the sources again")] = True,
) -> Answer:
    """Minute bars of the newest trade dates, unadjusted."""
    state = call.state
    reported = await intraday(state, state.part(live_of), code, period.value, days, use_cache=use_cache)
    if reported.source is None or reported.value["source"] == STALE:
        # A stale answer must not be cached: the next request asks again.
        cache = {"Cache-Control": NO_STORE, "X-Cache-TTL": "0"}
    else:
        cache = {"X-Cache-TTL": str(client_ttl(state.clock.now(), state.calendar))}
    return Answer(reported.value, headers=cache | reported.headers)
