"""Live reads of the whole market: the limit pool, the industry ranking, strong stocks."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from core.calendar import CalendarHorizon
from platform_assets.compute.parameters.market_phase import STREAK_DAYS
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.limit_pool import RawLimitPool
from platform_assets.datasets.name_history import NameSpan
from platform_assets.datasets.stock_wide import StockWide
from resources.warehouse.stored import stored, within
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads import queries
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, THS, Answered
from serving_api.live.data_types import MARKETS, check_dates
from serving_api.live.frame_values import Row, is_empty, number, records, session_date, shown, text, whole
from serving_api.live.session_state import market_session

BARS = stored("fusion_kline_daily", KlineDaily)
NAMES = stored("ref_name_history", NameSpan)
WIDE = stored("fusion_stock_wide", StockWide)
SEALED = "up"
_FIGURES = ("code", "close", "change_pct", "amount", "turnover_pct")
_UNKNOWN = dict.fromkeys(
    ("float_market_cap", "first_seal_time", "last_seal_time", "seal_fund", "break_times", "zt_stat")
)
"""Columns that only a pool has."""


def limit_ups_of_bars(session: Session, day: str, dates: list[str]) -> list[Row]:
    """Stocks that closed at their limit-up price on `day`, the longest streak first. `dates` are the trade
    dates that a streak is counted over, `day` the last of them."""
    where = [BARS.c.date == day, BARS.c.sec_type == "stock", BARS.c.limit_status == SEALED]
    found = session.dicts(BARS, *where, columns=_FIGURES, order=[BARS.c.code])
    rows = [{**row, **_reported(session, row["code"], day, dates), **_UNKNOWN} for row in found]
    for row in rows:
        row["price"] = row.pop("close")
    return sorted(rows, key=lambda row: (-row["limit_days"], row["code"]))


def _reported(session: Session, code: str, day: str, dates: list[str]) -> dict[str, Any]:
    """Name and industry on the date, consecutive limit-ups."""
    where = [
        NAMES.c.code == code,
        NAMES.c.valid_from <= day,
        NAMES.c.valid_to.is_(None) | (NAMES.c.valid_to >= day),
    ]
    name = session.first(NAMES, "name", *where, order=[NAMES.c.valid_from.desc()])
    return {
        "name": name or code,
        "industry": session.first(WIDE, "em_industry", WIDE.c.code == code, WIDE.c.trade_date == day),
        "limit_days": _streak(session, code, dates),
    }


def _streak(session: Session, code: str, dates: list[str]) -> int:
    """Consecutive limit-ups up to the last of `dates`; a date without trading is skipped."""
    c, columns = BARS.c, ("limit_status", "is_suspended")
    of = [c.code == code, *within(c.date, dates[0], dates[-1])]
    bars = session.rows(BARS, *of, columns=columns, order=[c.date.desc()])
    count = 0
    for status, is_suspended in bars:
        if is_suspended:
            continue
        if status != SEALED:
            break
        count += 1
    return count


def streak_dates(calendar: Any, day: str) -> list[str]:
    """The trade dates over which a streak up to `day` is counted."""
    dates: list[str] = calendar.last(STREAK_DAYS, day)
    return dates


POOL_TTL, RANKING_TTL, HOT_TTL = 20.0, 30.0, 10.0
POOL_SESSIONS = 20
"""Trade dates that the portal's pools reach back."""
BOARD_PAGES = 5
LIMIT_UP = (
    RawLimitPool.code, RawLimitPool.name, RawLimitPool.price.or_null(), RawLimitPool.change_pct,
    RawLimitPool.amount, RawLimitPool.float_market_cap.label("float_cap"), RawLimitPool.turnover_pct,
    RawLimitPool.limit_days, RawLimitPool.first_seal_time.label("first_seal"),
    RawLimitPool.last_seal_time.label("last_seal"), RawLimitPool.seal_fund, RawLimitPool.break_times,
    RawLimitPool.industry, RawLimitPool.zt_stat,
)  # fmt: skip
_CLOSE = "15:00"
_CNY_PER_YI = 1e8


class Market:
    """Reads that return their empty structure when neither a source nor the store has data."""

    def __init__(self, state: State) -> None:
        self._clock = state.clock
        self._calendar = state.calendar
        self._reading = state.reading
        self._live = state.part(live_of)

    async def limit_ups(self, day: str | None) -> Answered:
        """The pool of limit-ups of a date (default: the newest trade date): the stored one; during its
        session, and when none is stored, the portal's; for a date whose pool is no longer served,
        limit-ups from the stored bars. Empty on a day without trading."""
        today = self._clock.now().date().isoformat()
        try:
            asked = day or self._calendar.on_or_before(today)
            if not self._calendar.is_trade_date(asked):
                return Answered([])
            recent = asked >= self._calendar.last(POOL_SESSIONS, today)[0]
        except CalendarHorizon:
            return Answered([])
        stored = await self._stored(queries.limit_ups, asked)
        running = asked == today and self._clock.now().strftime("%H:%M") < _CLOSE
        if recent and (running or not stored):
            answer = await self._reported(
                ("limit up", asked), POOL_TTL, {EASTMONEY: lambda client: client.limit_pool("up", asked)}
            )
            if answer.value is not None and (running or not is_empty(answer.value)):
                rows = [limit_row(row) for row in records(answer.value)]
                return replace(answer, value=rows, trade_date=asked)
        if not stored:
            stored = await self._stored(limit_ups_of_bars, asked, streak_dates(self._calendar, asked))
        return Answered([limit_row(row) for row in stored], trade_date=asked, stored=bool(stored))

    async def industries(self) -> Answered:
        """Every industry board, strongest first: the portal's current ones, else those that are stored of the
        session or of the one before; older ones are no answer."""
        try:
            day = market_session(self._clock.now(), self._calendar)
        except CalendarHorizon:
            return Answered([])
        boards = {EASTMONEY: lambda client: boards_of(client, day)}
        key = ("industries", day)
        answer = await self._reported(key, RANKING_TTL, boards, pages=BOARD_PAGES + 1, empty=is_empty)
        if answer.value is not None and not is_empty(answer.value):
            rows = ranked([board(row) for row in records(answer.value)])
            return replace(answer, value=rows, trade_date=day)
        for stored_day in (day, self._calendar.offset(day, -1)):
            if stored := await self._stored(queries.sectors, stored_day):
                return Answered(ranked([sector(row) for row in stored]), trade_date=stored_day, stored=True)
        return Answered([])

    async def industry_ends(self, count: int) -> Answered:
        """{top, bottom, total}: the strongest and the weakest of them, each from the most extreme one on."""
        answer = await self.industries()
        rows = answer.value
        return answer.shaped({"top": rows[:count], "bottom": rows[::-1][:count], "total": len(rows)})

    async def hot_stocks(self) -> Answered:
        """Strong stocks of the current session of quotes, with their topics; the strongest first."""
        day = session_date(self._clock.now(), self._calendar)
        strong_stocks = {THS: lambda client: client.strong_stocks(day)}
        answer = await self._reported(("strong", day), HOT_TTL, strong_stocks, order=(THS,))
        if answer.value is not None:
            rows = strongest([strong(row) for row in records(answer.value)])
            return replace(answer, value=rows, trade_date=day)
        stored = await self._stored(queries.strong_stocks, day)
        return Answered(
            strongest([strong(row) for row in stored]),
            trade_date=day if stored else None,
            stored=bool(stored),
        )

    async def _stored(self, query: Callable[..., list[Row]], *args: Any) -> list[Row]:
        return await read_or([], self._reading.scan(query, *args))

    async def _reported(
        self, key: Hashable, seconds: float, reads: Mapping[str, Callable[[Any], Any]], **how: Any
    ) -> Answered:
        """A shared answer (`LiveClients.ask`); its value is None when no source has one."""
        live = self._live
        return await live.reported(key, live.ttl(seconds), lambda: live.clients.ask(reads, **how), None)


def boards_of(client: Any, day: str) -> Any:
    """The portal's industry boards, undated: PayloadError unless its indices are of the session."""
    check_dates(records(client.ulist(list(MARKETS))), day)
    return client.boards("industry")


# -- shapes -------------------------------------------------------------------------------------------


def limit_row(row: Mapping[str, Any]) -> Row:
    """One limit-up, from the store or from the portal. CNY, percent; `float_cap` 10k CNY."""
    return shown(row, LIMIT_UP)


def board(row: Mapping[str, Any]) -> Row:
    """An industry board of the portal. CNY, percent."""
    return {
        "code": row["board_code"], "name": row["board_name"], "change_pct": number(row["change_pct"]),
        "leader_change_pct": number(row["leader_pct"]), "amount": number(row["amount"]),
        "main_net": number(row["main_net"]), "up_count": whole(row["up_count"]),
        "down_count": whole(row["down_count"]), "leader_name": text(row["leader_name"]),
    }  # fmt: skip


def sector(row: Mapping[str, Any]) -> Row:
    """The same from a stored node."""
    amount = number(row["amount_yi"])
    shown = ("name", "change_pct", "up_count", "down_count", "leader_name", "leader_change_pct", "main_net")
    return {
        "code": row["node_code"], **{name: row[name] for name in shown},
        "amount": None if amount is None else round(amount * _CNY_PER_YI, 2),
    }  # fmt: skip


def ranked(rows: list[Row]) -> list[Row]:
    """Best change first, `rank` from 1; boards without a change come last."""
    ordered = sorted(
        rows, key=lambda row: (row["change_pct"] is None, -(row["change_pct"] or 0.0), row["code"])
    )
    return [{"rank": rank, **row} for rank, row in enumerate(ordered, start=1)]


def strong(row: Mapping[str, Any]) -> Row:
    """A strong stock. CNY, percent."""
    tags = row["tags"]
    return {
        "code": row["code"], "name": row["name"],
        **{name: number(row.get(name)) for name in ("price", "change_pct", "turnover_pct", "amount")},
        "reason": text(row["reason"]), "tags": orjson.loads(tags) if isinstance(tags, str) else tags or [],
    }  # fmt: skip


def strongest(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (-(row["change_pct"] or 0.0), row["code"]))
