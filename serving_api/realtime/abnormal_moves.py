"""Three kinds of abnormal moves: auction, intraday, deviation."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import time
from typing import Any

from core.calendar import CalendarHorizon
from core.errors import PayloadError, Unavailable
from platform_assets.compute.auction import direction
from platform_assets.datasets.dragon_tiger import DragonTiger
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import before_open
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads.changes import Changes
from serving_api.live.admin_reads.market import Market
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import EASTMONEY, TDX, TENCENT
from serving_api.live.frame_values import Row, change_pct, number, positive, records, whole
from serving_api.live.segments import Items, Part, Segment
from serving_api.live.symbols import Listed, listed_of

TOGETHER = 3
"""Connections of the terminal's client."""
HALF_TICK = 0.005
_LEAST_COMPARED, _LEAST_EQUAL = 4, 0.5


def by_terminal(client: Any, pool: Sequence[Row], listed: Mapping[str, Listed]) -> list[Row]:
    """The newest step before the open: a virtual price until 09:25, then the traded one."""
    symbols = {row["code"]: listed[row["code"]].symbol for row in pool if row["code"] in listed}
    closes = _last_closes(records(client.quotes(list(symbols.values()))))
    _check_session(pool, symbols, closes)
    context = copy_context()  # the call budget of this request
    with ThreadPoolExecutor(max_workers=TOGETHER) as threads:
        asked = threads.map(lambda symbol: context.copy().run(client.auction, symbol), symbols.values())
        steps = {code: _newest(records(frame)) for code, frame in zip(symbols, asked, strict=True)}
    found = []
    for row in pool:
        step, close = steps.get(row["code"]), closes.get(symbols.get(row["code"], ""))
        if step is None or close is None:
            continue
        matched, unmatched = whole(step["matched_volume"]), whole(step["unmatched_volume"])
        found.append(_item(row, positive(step["price"]), close, matched, unmatched))
    return ordered(found)


def by_quote_site(client: Any, pool: Sequence[Row], listed: Mapping[str, Listed]) -> list[Row]:
    """The opening price is that of the auction; its volumes are not available."""
    symbols = {row["code"]: listed[row["code"]].symbol for row in pool if row["code"] in listed}
    quotes = {row["symbol"]: row for row in records(client.quotes(list(symbols.values())))}
    closes = _last_closes(list(quotes.values()))
    _check_session(pool, symbols, closes)
    found = []
    for row in pool:
        symbol = symbols.get(row["code"], "")
        if symbol in quotes and symbol in closes:
            found.append(_item(row, positive(quotes[symbol]["open"]), closes[symbol], None, None))
    return ordered(found)


def ordered(items: Sequence[Row | None]) -> list[Row]:
    """The longest streak first, then the strongest. A stock without a price in the auction is left out."""
    known = [item for item in items if item is not None]
    return sorted(known, key=lambda item: (-(item["limit_days"] or 0), -item["change_pct"], item["code"]))


def _item(
    row: Row, price: float | None, close: float, matched: int | None, unmatched: int | None
) -> Row | None:
    change = change_pct(price, close)
    if change is None:
        return None
    return {
        "code": row["code"],
        "name": row["name"],
        "auction_price": price,
        "prev_close": close,
        "change_pct": change,
        "matched_vol": matched,
        "unmatched_vol": unmatched,
        "direction": direction(change, unmatched),
        "limit_days": row["limit_days"],
    }


def _newest(steps: Sequence[Row]) -> Row | None:
    opening = [step for step in steps if step["time"] < OPENS.isoformat()]
    return max(opening, key=lambda step: str(step["time"]), default=None)


def _last_closes(rows: Sequence[Row]) -> dict[str, float]:
    closes = {row["symbol"]: positive(row["last_close"]) for row in rows if not row.get("unknown")}
    return {symbol: close for symbol, close in closes.items() if close is not None}


def _check_session(pool: Sequence[Row], symbols: Mapping[str, str], closes: Mapping[str, float]) -> None:
    """Checks the session: a source that still serves yesterday has other last closes than the closes in
    the pool; ex-rights explain a few. Raises PayloadError."""
    pairs = [
        (closes[symbol], row["price"])
        for row in pool
        if row["price"] and (symbol := symbols.get(row["code"], "")) in closes
    ]
    equal = sum(abs(reported - closed) < HALF_TICK for reported, closed in pairs)
    if len(pairs) >= _LEAST_COMPARED and equal < _LEAST_EQUAL * len(pairs):
        raise PayloadError(f"an auction of another session: {equal} of {len(pairs)} last closes fit")


FEWEST, MOST = 5, 50
AUCTION_TTL, AUCTION_IDLE_TTL, INTRADAY_TTL, DEVIATION_TTL = 20.0, 1800.0, 20.0, 1800.0
AUCTION_BEGINS, OPENS, LISTINGS_AT = time(9, 15), time(9, 30), time(18, 0)
READY, PRE_AUCTION, NON_TRADING_DAY = "ready", "pre_auction", "non_trading_day"
BILLBOARD = stored("fusion_dragon_tiger", DragonTiger)
MARK = "偏离"
LISTED = (
    DragonTiger.date, DragonTiger.code, DragonTiger.name, DragonTiger.reason, DragonTiger.change_pct,
    DragonTiger.net_buy,
)  # fmt: skip


class AbnormalMoves:
    """Each segment has its own time to live and its own errors."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._live = live = state.part(live_of)
        self._market = state.part(Market)
        self._changes = state.part(Changes)
        self._auction, self._intraday, self._deviation = (
            Segment(name, state.system.monotonic, state.clock.now, live.shared)
            for name in ("auction", "intraday", "deviation")
        )

    def close(self) -> None:
        for segment in (self._auction, self._intraday, self._deviation):
            segment.close()

    def status(self) -> tuple[str, str | None]:
        """(auction_status, date of the pool: the previous trade date). Beyond the calendar no session is
        known, so there is none."""
        now, calendar = self._state.clock.now(), self._state.calendar
        today = now.date().isoformat()
        try:
            newest = calendar.on_or_before(today)
            if newest != today:
                return NON_TRADING_DAY, newest
            before = calendar.offset(today, -1)
        except CalendarHorizon:
            return NON_TRADING_DAY, None
        return (READY if now.time() >= AUCTION_BEGINS else PRE_AUCTION), before

    async def auction(self, status: str, pool_day: str | None, *, use_cache: bool) -> Part:
        """Yesterday's limit-ups in today's opening auction; no source is asked before it begins."""
        if status != READY or pool_day is None:
            return Part([], True)
        return await self._auction.read(
            self._state.today, self._auction_ttl, lambda: self._ask_auction(pool_day), use_cache=use_cache
        )

    async def intraday(self, *, use_cache: bool) -> Part:
        """The newest anomalies of the session."""
        return await self._intraday.read(
            self._state.today, lambda: INTRADAY_TTL, self._ask_intraday, use_cache=use_cache
        )

    async def deviation(self, *, use_cache: bool) -> Part:
        """Listings of the billboard for a deviation of the price, of the newest published date."""
        return await self._deviation.read(
            self._state.today, lambda: DEVIATION_TTL, self._ask_deviation, use_cache=use_cache
        )

    def _auction_ttl(self) -> float:
        within = AUCTION_BEGINS <= self._state.clock.now().time() < OPENS
        return AUCTION_TTL if within else AUCTION_IDLE_TTL

    async def _ask_auction(self, pool_day: str) -> Items:
        pool = (await self._market.limit_ups(pool_day)).value
        pool = sorted(pool, key=lambda row: (-(row["limit_days"] or 0), row["code"]))[:MOST]
        if not pool:
            return []
        listed = await listed_of(self._state.reading, [row["code"] for row in pool])
        answer = await self._live.clients.ask(
            {
                TDX: lambda client: by_terminal(client, pool, listed),
                TENCENT: lambda client: by_quote_site(client, pool, listed),
            },
            order=(TDX, TENCENT),
            pages=len(pool) + 1,
            empty=lambda items: not items,
        )
        items: Items = answer.value
        return items

    async def _ask_intraday(self) -> Items:
        if before_open(self._state.clock.now(), self._state.calendar):
            return []
        answer, stale = await self._changes.newest_or_last(MOST, use_cache=False)
        if stale and not answer.value:
            raise Unavailable("no source has intraday anomalies")
        return [_change(row) for row in answer.value]

    async def _ask_deviation(self) -> Items:
        """The stored billboard; the portal's when the newest published date is not stored yet."""
        published = self._published()
        stored = await read_or([], self._state.reading.scan(stored_listings, self._state.today))
        if published is None or (stored and stored[0]["date"] >= published):
            return _deviating(stored)
        answer = await read_or(
            None,
            self._live.clients.ask(
                {EASTMONEY: lambda client: client.billboard(published, published)}, order=(EASTMONEY,)
            ),
        )
        asked = [] if answer is None else _deviating(records(answer.value))
        return asked or _deviating(stored)

    def _published(self) -> str | None:
        """The newest trade date with a published billboard: the exchanges publish it in the evening."""
        now, calendar = self._state.clock.now(), self._state.calendar
        try:
            newest = calendar.on_or_before(now.date().isoformat())
            out = newest != now.date().isoformat() or now.time() >= LISTINGS_AT
            return newest if out else calendar.offset(newest, -1)
        except CalendarHorizon:
            return None


def stored_listings(session: Session, until: str) -> list[Row]:
    """Every stored listing of the newest date up to `until`."""
    day = session.first(BILLBOARD, "date", BILLBOARD.c.date <= until, order=[BILLBOARD.c.date.desc()])
    return session.dicts(BILLBOARD, BILLBOARD.c.date == day, columns=LISTED) if day else []


def _deviating(rows: list[Row]) -> Items:
    """The largest net buyers first; `net_buy` in 10k CNY."""
    items = [
        {
            **{name: row[name] for name in ("date", "code", "name", "reason")},
            "change_pct": number(row["change_pct"]),
            "net_buy": number(row["net_buy"]),
        }
        for row in rows
        if MARK in (row["reason"] or "")
    ]
    items.sort(key=lambda row: (-(row["net_buy"] or 0.0), row["code"], row["reason"]))
    return items[:MOST]


def _change(row: Row) -> Row:
    shown = {name: row[name] for name in ("time", "code", "name", "price", "info")}
    return {**shown, "type": row["type_label"], "change_pct": row["change_percent"]}


def clamped(limit: int) -> int:
    """The specification's 5 to 50."""
    return max(FEWEST, min(MOST, limit))


def body_of(status: str, pool_day: str | None, parts: dict[str, Part], limit: int) -> dict[str, Any]:
    """The items without their times."""
    items = {name: part.items[:limit] for name, part in parts.items()}
    return {
        "cached": all(part.cached for part in parts.values()),
        "auction_date": pool_day and pool_day.replace("-", ""),
        "auction_status": status,
        **items,
        "counts": {name: len(found) for name, found in items.items()},
    }
