"""The market in context: the risk temperature of nine rules and the chain of the day's events.

Both are made together and cached for 60 seconds under one key. Missing data of one part does not affect
the other.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from platform_assets.compute.cross_market import Reading, temperature
from platform_assets.compute.event_chain import Flash, Words, chain
from platform_assets.compute.parameters.cross_market import TREND_SESSIONS
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.service import live_of
from serving_api.live.chain import UnifiedReads
from serving_api.live.clients import EASTMONEY, SINA, Answered
from serving_api.live.frame_values import Row, change_pct, is_empty, number, records
from serving_api.live.queries import BLOCKS, MASTER, listed_stocks
from serving_api.live.session_state import market_session
from serving_api.live.stored_facts import INDUSTRIES, MAIN_INDEX
from serving_api.market import queries

CONTEXT_TTL = 60.0
KEY = "market context"
FLASHES = 200
WAIT_S = 4.0
_WORDS_BYTES = 4_000_000


@dataclass(frozen=True)
class Context:
    """Both answers, and when they were made by the market clock."""

    risk: dict[str, Any]
    events: dict[str, Any]
    at: datetime


class MarketContext:
    def __init__(self, state: State) -> None:
        self._state = state
        self._live = state.part(live_of)
        self._unified = state.part(UnifiedReads)

    async def read(self) -> Context:
        """The answers that one API process makes for all of them."""
        landed = await self._live.shared.take(
            self._live.single_flight, KEY, CONTEXT_TTL, self._make, day=self._live.session()
        )
        made: Answered = landed.value
        return Context(made.value["risk"], made.value["events"], made.at or self._state.clock.now())

    async def _make(self) -> Answered:
        readings, events = await asyncio.gather(self._readings(), self._events())
        made = {"risk": temperature(readings), "events": events}
        return Answered(made, at=self._state.clock.now())

    # -- risk -----------------------------------------------------------------------------------------

    async def _readings(self) -> dict[str, Reading]:
        now, calendar = self._state.clock.now(), self._state.calendar
        outside = asyncio.ensure_future(self._outside(now))
        try:
            session = market_session(now, calendar)
            domestic = await self._domestic(session, calendar)
        except CalendarHorizon:
            domestic = {}
        return {**domestic, **await outside}

    async def _domestic(self, session: str, calendar: TradeCalendar) -> dict[str, Reading]:
        found: dict[str, Reading] = {}
        sentiment = await self._unified.read("sentiment")
        is_now = sentiment.is_of_session
        breadth = sentiment.body["breadth"]
        moved = (breadth["up"] or 0) + (breadth["down"] or 0)
        if is_now and moved and not sentiment.estimate:
            found["breadth"] = Reading(breadth["up"] / moved * 100, session, 0)
        price = next((row["price"] for row in sentiment.body["indices"] if row["code"] == MAIN_INDEX), None)
        closes = await read_or(
            [], self._state.reading.point(queries.index_closes, session, TREND_SESSIONS + 1)
        )
        found |= _trend(dict(closes), {session: price} if is_now and price else {}, session, calendar)
        margin = await read_or(None, self._state.reading.scan(_margin, session, calendar))
        return found if margin is None else {**found, "margin": margin}

    async def _outside(self, now: datetime) -> dict[str, Reading]:
        """The live read within four seconds, else the stored one; a late answer is not waited for."""
        try:
            answered = await asyncio.wait_for(read_or(None, self._ask_outside()), WAIT_S)
        except TimeoutError:
            answered = None
        rows = [] if answered is None else records(answered.value)
        known = {row["series"] for row in rows}
        stored = await read_or([], self._state.reading.point(queries.newest_outside, now.date().isoformat()))
        rows += [row for row in stored if row["series"] not in known]
        return {row["series"]: reading for row in rows if (reading := _outside_reading(row, now.date()))}

    async def _ask_outside(self) -> Answered:
        return await self._live.clients.ask(
            {EASTMONEY: lambda client: client.outside(), SINA: lambda client: client.outside()},
            order=(EASTMONEY, SINA),
            empty=is_empty,
        )

    # -- events ---------------------------------------------------------------------------------------

    async def _events(self) -> dict[str, Any]:
        answer = await self._live.global_news(FLASHES)
        today = self._state.today
        flashes = [_flash(row) for row in answer.value if str(row["time"])[:10] == today]
        tables = (BLOCKS, INDUSTRIES, MASTER)
        known = self._state.cached("event words", "", tables, lambda _: _WORDS_BYTES, _words)
        words = await read_or(None, known)
        return chain(flashes, words or Words({}, {}, {}, {}))


def _trend(
    stored: Mapping[str, float], live: Mapping[str, float], session: str, calendar: TradeCalendar
) -> dict[str, Reading]:
    """Change of the main index over five sessions up to the newest known one."""
    closes = {**stored, **live}
    newest = max(closes, default=None)
    if newest is None:
        return {}
    change = change_pct(closes[newest], closes.get(calendar.offset(newest, -TREND_SESSIONS)))
    if change is None:
        return {}
    return {"index_trend": Reading(change, newest, len(calendar.between(newest, session)) - 1)}


def _margin(session: Session, day: str, calendar: TradeCalendar) -> Reading | None:
    """Change over the stocks that both dates have, so that an incomplete date is no change."""
    newest = session.first(
        queries.MARGIN, "date", queries.MARGIN.c.date <= day, order=[queries.MARGIN.c.date.desc()]
    )
    if newest is None:
        return None
    now = queries.financed(session, newest)
    before = queries.financed(session, calendar.offset(newest, -TREND_SESSIONS))
    both = now.keys() & before.keys()
    if not both:
        return None
    change = change_pct(sum(now[code] for code in both), sum(before[code] for code in both))
    age = len(calendar.between(newest, day)) - 1
    return None if change is None else Reading(change, newest, age)


def _outside_reading(row: Row, today: date) -> Reading | None:
    change = change_pct(number(row["price"]), number(row["last_close"]))
    if change is None:
        return None
    day = str(row["date"])
    return Reading(change, day, (today - date.fromisoformat(day)).days)


def _flash(row: Row) -> Flash:
    return Flash(
        str(row["id"]), str(row["time"]), str(row["title"]), str(row["content"] or ""), tuple(row["codes"])
    )


def _words(session: Session) -> Words:
    boards = queries.board_names(session)
    industries = session.rows(INDUSTRIES, columns=("code", "em_industry"))
    return Words(
        {name: code for name, code, kind in boards if kind == "concept"},
        {name: code for name, code, kind in boards if kind == "industry"},
        {str(row["code"]): str(row["name"]) for row in listed_stocks(session) if row.get("name")},
        {str(code): str(name) for code, name in industries if name},
    )
