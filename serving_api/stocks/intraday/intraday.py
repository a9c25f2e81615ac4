"""Intraday bars of one code: their cache times on the server and at clients, and the covered days."""

from datetime import datetime
from typing import Any

from core.calendar import TradeCalendar
from serving_api.framework.cache_headers import ttl_at
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import Live
from serving_api.live.clients import Answered

PERIODS = {"1m": 1, "5m": 5, "15m": 15, "30m": 30, "60m": 60}
TTL = {"1m": 30, "5m": 30, "15m": 900, "30m": 1800, "60m": 3600}
"""Seconds that the server caches bars of a period in trading hours."""
CLIENT_TTL = 30
SESSION_MINUTES = 240


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


async def intraday(
    state: State, live: Live, code: str, period: str, days: int, *, use_cache: bool
) -> Answered:
    """{code, period, bars, source} with the source that answered. When no source answers: the last good
    bars (`cache_stale`), else none."""
    minutes = PERIODS[period]
    try:
        landed = await live.single_flight.take(
            ("intraday", code, period, days),
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
