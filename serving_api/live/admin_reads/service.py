"""The live reads: requests, sources and sharing times."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any

import orjson

from serving_api.framework.cache_headers import ttl_at
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.admin_reads import flows, queries
from serving_api.live.clients import (
    EASTMONEY,
    ORIGIN,
    TDX,
    TENCENT,
    Answered,
    LiveClients,
    trade_date_at,
)
from serving_api.live.frame_values import Row, is_empty, records, session_date, whole
from serving_api.live.movers import market_stat
from serving_api.live.quotes import brief_quote, index_quote, order_book
from serving_api.live.scan import SCANS, MarketScan, Traded, pages_of
from serving_api.live.shared_reads import SharedReads
from serving_api.live.single_flight import SingleFlightCache, Ttl
from serving_api.live.stored_facts import FactReads, Facts
from serving_api.live.symbols import Listed, listed_of

QUOTE_TTL, FLOW_TTL, STAT_TTL, EVENTS_TTL = 3.0, 30.0, 10.0, 3600.0
"""Seconds for market totals outside trading hours: they do not change any more."""
FLASH_TTL = 30.0
QUOTES_PER_CALL, BOOKS_PER_CALL, BARS_PER_CALL, FLASHES_PER_CALL = 60, 80, 800, 50
MINUTE_ROWS = 240
MAIN_INDICES = ("sh000001", "sz399001", "sz399006")
MOST_SITE_BARS = 320
XDXR_RIGHTS = 1
"""The category whose four values are cash, rights price, bonus and rights per ten shares."""


class Live:
    """Live reads of one app. Every method returns its empty structure when no source answers, except
    `market_stat`, which raises. The `value` of an answer is the data of its route."""

    def __init__(self, state: State, clients: LiveClients | None = None) -> None:
        self._clock = state.clock
        self._calendar = state.calendar
        self._reading = state.reading
        self.clients = clients or LiveClients(state.settings, state.clock, state.calendar)
        self.single_flight: SingleFlightCache[Any] = SingleFlightCache(state.system.monotonic)
        self.facts = FactReads(state)
        self.shared = state.part(SharedReads)
        self._stat_ttl = self.ttl(STAT_TTL)
        self.scans = MarketScan(self.clients, state.system.monotonic, self._stat_ttl, self.shared)

    def close(self) -> None:
        self.clients.close()

    # -- quotes -----------------------------------------------------------------------------------

    async def quotes(self, codes: Sequence[str]) -> Answered:
        """Code -> brief quote; unknown codes are left out."""
        key = ("quotes", tuple(sorted(codes)))
        answer = await self.reported(key, QUOTE_TTL, lambda: self._quotes(codes), {})
        return answer.shaped({code: answer.value[code] for code in codes if code in answer.value})

    async def _quotes(self, codes: Sequence[str]) -> Answered:
        answer = await self.quote_rows(codes)
        day = session_date(self._clock.now(), self._calendar)
        return answer.shaped(
            {code: brief_quote(row, one, day, self._calendar) for code, (row, one) in answer.value.items()}
        )

    async def quote_rows(self, codes: Sequence[str]) -> Answered:
        """Code -> (row of the source, security), requested now; unknown codes are left out. Raises the
        error of the first source when every source failed."""
        found = await listed_of(self._reading, codes)
        if not found:
            return Answered({})
        symbols = [one.symbol for one in found.values()]
        # The terminal has no ratios, caps and limits, which this answer shows: it comes last.
        answer = await self.clients.ask(
            {
                TENCENT: lambda client: client.quotes(symbols),
                EASTMONEY: lambda client: client.ulist(symbols),
                TDX: lambda client: client.quotes(symbols),
            },
            order=(TENCENT, EASTMONEY, TDX),
            pages=-(-len(symbols) // QUOTES_PER_CALL),
            empty=is_empty,
        )
        by_symbol = {one.symbol: one for one in found.values()}
        return answer.shaped(
            {
                by_symbol[row["symbol"]].code: (row, by_symbol[row["symbol"]])
                for row in records(answer.value)
                if row["symbol"] in by_symbol and not row.get("unknown")
            }
        )

    async def order_book(self, code: str) -> Answered:
        """One security with its five-level book; {} when it is unknown."""
        return await self.reported(("book", code), QUOTE_TTL, lambda: self._order_book(code), {})

    async def _order_book(self, code: str) -> Answered:
        one = await self._listed(code)
        if one is None:
            return Answered({})
        answer = await self.clients.ask(
            {
                TDX: lambda client: _known(client.quotes([one.symbol])),
                TENCENT: lambda client: client.quotes([one.symbol]),
                EASTMONEY: lambda client: client.stock_get(one.symbol),
            },
            empty=is_empty,
        )
        if answer.source is None:
            return Answered({})
        row = records(answer.value)[0]
        time = row["quote_time"] if isinstance(row["quote_time"], str) else None
        if time and answer.source == TDX:
            # The terminal only has the time of day.
            time = f"{session_date(self._clock.now(), self._calendar)} {time}"
        return answer.shaped(order_book(row, one, time, ORIGIN[answer.source]))

    async def ticks(self, code: str, limit: int) -> Answered:
        """The last trades of the session, oldest first: {time, price CNY, volume shares, side}."""
        answer = await self.reported(("ticks", code), QUOTE_TTL, lambda: self._ticks(code), [])
        return answer.shaped(answer.value[-limit:])

    async def _ticks(self, code: str) -> Answered:
        one = await self._listed(code)
        if one is None:
            return Answered([])
        answer = await self.clients.ask({TDX: lambda client: client.transactions(one.symbol)})
        return answer.shaped(
            [
                {name: row[name] for name in ("time", "price", "volume", "side")}
                for row in records(answer.value)
            ]
        )

    async def index_quotes(self, symbols: Sequence[str] | None) -> Answered:
        """Quotes of mainland indices (`sh000001`; the main ones by default), in their order; unknown
        symbols are left out."""
        requested = tuple(symbols or MAIN_INDICES)
        if requested == MAIN_INDICES:
            return await self.shared_read("indices", QUOTE_TTL, lambda: self._index_quotes(requested), [])
        return await self.reported(
            ("indices", requested), QUOTE_TTL, lambda: self._index_quotes(requested), []
        )

    async def _index_quotes(self, symbols: Sequence[str]) -> Answered:
        answer = await self.clients.ask(
            {TENCENT: lambda client: client.quotes(symbols), EASTMONEY: lambda client: client.ulist(symbols)},
            order=(TENCENT, EASTMONEY),
            empty=is_empty,
        )
        rows = {row["symbol"]: row for row in records(answer.value) if not row.get("unknown")}
        return answer.shaped([index_quote(rows[symbol]) for symbol in symbols if symbol in rows])

    # -- flash news -----------------------------------------------------------------------------------

    async def global_news(self, size: int) -> Answered:
        """The newest flash news, newest first: from the portal, else the stored ones."""
        whole_pages = -(-size // FLASHES_PER_CALL) * FLASHES_PER_CALL
        answer = await self.shared_read(
            f"flashes {whole_pages}", FLASH_TTL, lambda: self._flashes(whole_pages), None
        )
        if answer.value is not None:
            return answer.shaped(answer.value[:size])
        stored = await read_or([], self._reading.point(queries.stored_flashes, size))
        return Answered([_flash(row) for row in stored])

    async def _flashes(self, size: int) -> Answered:
        answer = await self.clients.ask(
            {EASTMONEY: lambda client: client.flashes("", size)}, pages=-(-size // FLASHES_PER_CALL)
        )
        return answer.shaped([_flash(row) for row in records(answer.value)])

    # -- minutes and flows --------------------------------------------------------------------------

    async def minute_bars(self, code: str, period: int, count: int) -> Answered:
        """(MinuteBars oldest first, source). Raises the errors of the sources."""
        one = await self._listed(code)
        if one is None:
            return Answered([])
        newest = min(count, MOST_SITE_BARS)
        # The quote site has a few days of bars: for more days it is asked last, and returns what it has.
        order = None if count == newest else (TDX, EASTMONEY, TENCENT)
        answer = await self.clients.ask(
            {
                TDX: lambda client: client.bars(one.symbol, f"{period}m", count),
                TENCENT: lambda client: client.minute_bars(one.symbol, period, newest),
                EASTMONEY: lambda client: client.kline(one.symbol, klt=period, limit=count),
            },
            order=order,
            pages=-(-count // BARS_PER_CALL),
            empty=is_empty,
        )
        return answer.shaped([_minute_bar(row) for row in records(answer.value)])

    async def minute_kline(self, code: str, period: int) -> Answered:
        """The newest minute bars of a code."""
        key = ("minutes", code, period)
        answer = await self.reported(key, FLOW_TTL, lambda: self.minute_bars(code, period, MINUTE_ROWS), [])
        return answer.shaped(
            {"code": code, "period": period, "items": answer.value, "_source": answer.origin}
        )

    async def fund_flow(self, code: str, days: int) -> Answered:
        """Today's inflows and outflows, and the main nets of the newest `days` trade dates."""
        answer = await self.reported(
            ("flow", code, days), FLOW_TTL, lambda: self._fund_flow(code, days), None
        )
        if answer.value is not None:
            return answer
        return Answered(_stored_flow(code, await self._stored_flows(code, days), days))

    async def _stored_flows(self, code: str, days: int) -> list[dict[str, Any]]:
        return await read_or([], self._reading.point(queries.stored_flows, code, days, flows.STORED))

    async def _fund_flow(self, code: str, days: int) -> Answered:
        stored = await self._stored_flows(code, days)
        one = await self._listed(code)
        if one is None:
            return Answered(_stored_flow(code, stored, days))

        def portal(client: Any) -> tuple[list[Any], list[Any]]:
            return records(client.ulist([one.symbol])), records(client.fund_flow_daily(one.symbol))

        def quote_site(client: Any) -> tuple[list[Any], list[Any]]:
            tab = client.fund_flow(one.symbol, min(days, 50))
            return [], records(tab.history)

        # Only the portal splits the day into inflows and outflows.
        answer = await self.clients.ask(
            {EASTMONEY: portal, TENCENT: quote_site},
            order=(EASTMONEY, TENCENT),
            empty=lambda got: not any(got),
        )
        today, nets = answer.value
        return answer.shaped(
            {"code": code, "today": flows.today_sides(today), "history": flows.history(nets, stored, days)}
        )

    async def fund_flow_minutes(self, code: str) -> Answered:
        answer = await self.reported(("flow minutes", code), FLOW_TTL, lambda: self._flow_minutes(code), [])
        return answer.shaped({"code": code, "items": answer.value, "_source": answer.origin})

    async def _flow_minutes(self, code: str) -> Answered:
        one = await self._listed(code)
        if one is None:
            return Answered([])
        answer = await self.clients.ask(
            {
                EASTMONEY: lambda client: client.fund_flow_minutes(one.symbol),
                TENCENT: lambda client: client.fund_flow(one.symbol, 1).minutes,
            },
            order=(EASTMONEY, TENCENT),
            empty=is_empty,
        )
        return answer.shaped(flows.minute_flow(answer.value))

    async def northbound(self) -> Answered:
        nothing: Row = {"date": None, "items": [], "available": False, "note": None}
        return await self.reported("northbound", FLOW_TTL, self._northbound, nothing)

    async def _northbound(self) -> Answered:
        answer = await self.clients.ask({EASTMONEY: lambda client: client.connect_minutes()})
        return answer.shaped(flows.northbound(answer.value))

    # -- ex-rights ----------------------------------------------------------------------------------

    async def exrights(self, code: str) -> Answered:
        """Ex-rights records of the terminal source, oldest first."""
        answer = await self.reported(("xdxr", code), EVENTS_TTL, lambda: self._exrights(code), [])
        return answer.shaped({"code": code, "records": answer.value})

    async def _exrights(self, code: str) -> Answered:
        one = await self._listed(code)
        if one is None:
            return Answered([])
        answer = await self.clients.ask({TDX: lambda client: client.xdxr(one.symbol)})
        return answer.shaped(sorted(map(_exright, records(answer.value)), key=lambda row: row["date"]))

    # -- the market ---------------------------------------------------------------------------------

    async def market_stat(self) -> Answered:
        """MarketStat. Raises when no source answers (503)."""
        landed = await self.single_flight.take(
            ("market stat", self.session()), self._stat_ttl, self._market_stat
        )
        reported: Answered = landed.value
        return reported

    async def _market_stat(self) -> Answered:
        day = session_date(self._clock.now(), self._calendar)
        facts = await read_or(Facts(day), self.facts.of(day))
        answer = await self.clients.ask(
            {upstream: self._scanning(upstream, facts) for upstream in SCANS}, pages=pages_of(facts)
        )
        return answer.shaped(market_stat(answer.value, day, self._calendar))

    def _scanning(self, upstream: str, facts: Facts) -> Callable[[Any], list[Traded]]:
        return lambda _client: self.scans.take(upstream, facts)

    # -- sharing ------------------------------------------------------------------------------------

    def ttl(self, seconds: float) -> Callable[[], float]:
        """How long an answer of that moment is shared: `seconds` in trading hours, else `idle_ttl`."""
        return lambda: ttl_at(seconds, self._clock.now(), self._calendar)

    def session(self) -> str:
        """The trade date of quotes of now; today beyond the calendar."""
        now = self._clock.now()
        return trade_date_at(now, self._calendar) or now.date().isoformat()

    async def reported(
        self, key: Hashable, ttl: Ttl, make: Callable[[], Awaitable[Answered]], empty: Any, **how: Any
    ) -> Answered:
        """A shared answer (`SingleFlightCache.take`) of the session; `empty` when no source has one. A clock
        that jumped, or stood still with the machine, brings no answer of another session."""
        landed = await read_or(None, self.single_flight.take((self.session(), key), ttl, make, **how))
        return Answered(empty) if landed is None else landed.value

    async def shared_read(
        self, name: str, ttl: Ttl, make: Callable[[], Awaitable[Answered]], empty: Any, **how: Any
    ) -> Answered:
        """An answer of the session that all API processes share (`SharedReads.take`); its value is plain
        JSON."""
        day = how.pop("day", self.session())
        landed = await read_or(None, self.shared.take(self.single_flight, name, ttl, make, day=day, **how))
        return Answered(empty) if landed is None else landed.value

    async def portal(
        self, key: Hashable, ttl: Ttl, question: Callable[[Any], Any], shape: Callable[[Row], Row],
        *, pages: int = 1,
    ) -> Answered:  # fmt: skip
        """Rows of the portal, each as `shape` gives it; [] when the portal does not answer."""

        async def ask() -> Answered:
            answer = await self.clients.ask({EASTMONEY: question}, pages=pages, empty=is_empty)
            return answer.shaped([shape(row) for row in records(answer.value)])

        return await self.reported(key, ttl, ask, [])

    async def _listed(self, code: str) -> Listed | None:
        return (await listed_of(self._reading, [code])).get(code)


def live_of(state: State) -> Live:
    """The app's live reads (`state.part(live_of)`)."""
    return Live(state)


def _stored_flow(code: str, stored: Sequence[dict[str, Any]], days: int) -> dict[str, Any]:
    return {"code": code, "today": flows.no_sides(), "history": flows.history([], stored, days)}


def _known(frame: Any) -> Any:
    """Without the rows that the terminal does not know."""
    return frame[~frame["unknown"]]


def _flash(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row["flash_id"], "time": row["pub_time"], "title": row["title"], "content": row["content"],
        "source": row["media"], "url": row["url"], "importance": whole(row["importance"]),
        "codes": orjson.loads(row["codes"] or "[]"),
    }  # fmt: skip


def _minute_bar(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("datetime", "open", "high", "low", "close")},
        "volume": whole(row["volume"]),
    }


def _exright(row: dict[str, Any]) -> dict[str, Any]:
    rights = row["category"] == XDXR_RIGHTS
    values = {
        "hongli": "cash_per10", "peigujia": "rights_price", "songzhuangu": "bonus_per10",
        "peigu": "rights_per10",
    }  # fmt: skip
    return {
        "date": row["date"].replace("-", ""),
        "category": int(row["category"]),
        "name": row["name"],
        **{key: float(row[column]) if rights else None for key, column in values.items()},
    }
