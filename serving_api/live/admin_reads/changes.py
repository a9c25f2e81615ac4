"""Intraday anomalies of the session: the newest events of all stocks, from the portal alone.

Pages are requested in parallel, at most STOCK_CHANGES_CONCURRENCY at a time; while the portal is
unavailable (its breaker is open, or its responses are invalid) the last good answer is served.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import timedelta
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.quotes.changes import PAGE_ROWS, ChangesPage
from serving_api.framework.cache_headers import before_open, in_trading_hours
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, Answered
from serving_api.live.frame_values import Row, number, records

CHANGES_TTL = 20.0
MOST = 500
CLOCKS_APART = timedelta(minutes=1)


class Changes:
    """Reads that return an empty list when there is neither an answer nor a cached one."""

    def __init__(self, state: State) -> None:
        self._clock = state.clock
        self._calendar = state.calendar
        self._live = state.part(live_of)
        self._last: Answered | None = None
        self._together = max(1, state.settings.stock_changes_concurrency)

    async def newest(self, limit: int) -> Answered:
        """The newest events: {time, code, name, type, type_label, price, change_percent, info}; none on a
        trade date before its session."""
        return (await self.newest_or_last(limit))[0]

    async def newest_or_last(self, limit: int, *, use_cache: bool = True) -> tuple[Answered, bool]:
        """The same, and whether the portal did not answer and these are its last good events of today."""
        pages = math.ceil(min(limit, MOST) / PAGE_ROWS)
        if before_open(self._clock.now(), self._calendar):
            # The portal still serves the previous session, and its events do not say so.
            return Answered([]), False
        today = self._clock.now().date()
        ttl = self._live.ttl(CHANGES_TTL)
        asked = await self._live.shared_read(
            f"changes {pages}", ttl, lambda: self._ask(pages), None, use_cache=use_cache
        )
        if asked.value is not None:
            self._last = asked
        # Events carry no date: cached events of yesterday are not valid today.
        cached = self._last
        if cached is None or cached.at is None or cached.at.date() != today:
            return Answered([]), asked.value is None
        return cached.shaped(cached.value[:limit]), asked.value is None

    async def _ask(self, pages: int) -> Answered:
        answer = await self._live.clients.ask(
            {EASTMONEY: lambda client: newest_pages(client, pages, self._together)},
            order=(EASTMONEY,),
            pages=pages,
        )
        events = joined(answer.value)
        self._check_day(events)
        return answer.shaped(events)

    def _check_day(self, events: Sequence[Row]) -> None:
        """While the market trades, an event later than now belongs to another day. Raises PayloadError."""
        now = self._clock.now()
        latest = (now + CLOCKS_APART).strftime("%H:%M:%S")
        if events and in_trading_hours(now, self._calendar) and str(events[0]["time"]) > latest:
            raise PayloadError(f"an anomaly at {events[0]['time']} is later than now ({now:%H:%M:%S})")


def newest_pages(client: Any, pages: int, together: int) -> list[ChangesPage]:
    """The first page says how many there are; the others are requested `together` at a time."""
    first: ChangesPage = client.stock_changes(0)
    others = range(1, min(pages, math.ceil(first.total / PAGE_ROWS)))
    context = copy_context()  # the call budget of this request
    with ThreadPoolExecutor(max_workers=together) as pool:
        asked = pool.map(lambda page: context.copy().run(client.stock_changes, page), others)
        return [first, *asked]


def joined(pages: Sequence[ChangesPage]) -> list[Row]:
    """Events of all pages, newest first; one that moved to the next page meanwhile is listed once."""
    rows: dict[tuple[Any, ...], Row] = {}
    for page in pages:
        for row in records(page.rows):
            rows.setdefault((row["time"], row["code"], row["type"], row["info"]), _shown(row))
    return sorted(rows.values(), key=lambda row: str(row["time"]), reverse=True)


def _shown(row: Row) -> Row:
    figures = {"price": number(row["price"]), "change_percent": number(row["change_pct"])}
    return {**{name: row[name] for name in ("time", "code", "name", "type", "type_label", "info")}, **figures}
