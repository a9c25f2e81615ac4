"""/stocks/{code}/intraday: open to anyone, enveloped."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from core.calendar import TradeCalendar
from serving_api.framework.cache_headers import NO_STORE, ttl_at
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.live.admin_reads.schemas import MinuteBar
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import Answered
from serving_api.live.single_flight import STALE


class Intraday(BaseModel):
    code: str
    period: str = Field(description="1m, 5m, 15m, 30m, 60m")
    bars: list[MinuteBar] = Field(description="oldest first")
    source: Literal["cache", "cache_stale", "live"]


NAMED: list[tuple[str, Any]] = [("trade_date", str), ("_source", str), ("failed", bool)]
"""Trade date of the newest bar, its origin, and whether no source answered this request."""


PERIODS = {"1m": 1, "5m": 5, "15m": 15, "30m": 30, "60m": 60}
TTL = {"1m": 30, "5m": 30, "15m": 900, "30m": 1800, "60m": 3600}
"""Seconds that the server caches bars of a period in trading hours."""
CLIENT_TTL = 30
SESSION_MINUTES = 241
"""Rows of a date at most: some sources show the opening auction under 09:30."""


def client_ttl(now: datetime, calendar: TradeCalendar) -> int:
    """Value of Cache-Control and X-Cache-TTL, for every period."""
    return ttl_at(CLIENT_TTL, now, calendar)


def server_ttl(period: str, now: datetime, calendar: TradeCalendar) -> int:
    """Seconds that an answer is shared by this server."""
    return ttl_at(TTL[period], now, calendar)


def newest_days(bars: list[dict[str, Any]], days: int) -> list[dict[str, Any]]:
    """Those of the bars that belong to the newest `days` dates."""
    dates = sorted({bar["datetime"][:10] for bar in bars})[-days:]
    return [bar for bar in bars if bar["datetime"][:10] >= dates[0]] if dates else []


async def intraday(state: State, code: str, period: str, days: int, *, use_cache: bool) -> Answered:
    """{code, period, bars, source} with the source that answered. When no source answers: the last good
    bars (`cache_stale`), else none."""
    live, minutes = state.part(live_of), PERIODS[period]
    try:
        landed = await live.single_flight.take(
            (live.session(), "intraday", code, period, days),
            lambda: server_ttl(period, state.clock.now(), state.calendar),
            lambda: live.minute_bars(code, minutes, days * (SESSION_MINUTES // minutes)),
            use_cache=use_cache,
            stale_on=DATA_FAILURES,
        )
    except DATA_FAILURES:
        return Answered({"code": code, "period": period, "bars": [], "source": "live"})
    answer: Answered = landed.value
    bars = newest_days(answer.value, days)
    return answer.shaped({"code": code, "period": period, "bars": bars, "source": landed.origin})


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


@router.get("/{code}/intraday", response_model=Intraday)
@serves(top=NAMED, cache=_cache_control)
async def read_intraday(
    call: Anyone,
    code: StockCode,
    period: Annotated[IntradayPeriod, Query(description="length of a bar")] = IntradayPeriod.m5,
    days: Annotated[int, Query(ge=1, le=30, description="newest trade dates")] = 1,
    use_cache: Annotated[bool, Query(description="false asks the sources again")] = True,
) -> Answer:
    """Minute bars of the newest trade dates, unadjusted."""
    reported = await intraday(call.state, code, period.value, days, use_cache=use_cache)
    if reported.source is None or reported.value["source"] == STALE:
        # A stale answer must not be cached: the next request asks again.
        cache = {"Cache-Control": NO_STORE, "X-Cache-TTL": "0"}
    else:
        cache = {"X-Cache-TTL": str(client_ttl(call.state.clock.now(), call.state.calendar))}
    bars = reported.value["bars"]
    facts = {
        "trade_date": bars[-1]["datetime"][:10] if bars else None,
        "_source": reported.origin,
        "failed": reported.source is None or reported.value["source"] == STALE,
    }
    return Answer(reported.value, top=facts, headers=cache | reported.headers)
