"""Stock reads: which rows are returned, and the form of an empty answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from core.errors import NotFound
from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Reading, Session
from serving_api.db.table_versions import Versions
from serving_api.db.versioned_cache import VersionedCache
from serving_api.framework.read_failures import read_or
from serving_api.stocks import queries
from serving_api.stocks.bars import EncodedBars, adjusted
from serving_api.stocks.directory import Directory, Listing

SHALLOW, DEEP = 250, 2000
"""Bars that one read of a code fetches: a year, which most charts need, or the maximum."""
WAN = 10_000.0

_EMPTY_DIRECTORY = Directory.of(())


class Stocks:
    """Reads of single securities."""

    def __init__(self, reading: Reading, versions: Versions, cache: VersionedCache) -> None:
        self._reading = reading
        self._versions = versions
        self._cache = cache

    # -- bars -------------------------------------------------------------------------------------

    async def kline(
        self, code: str, days: int, adjust: str, as_of: str | None
    ) -> tuple[orjson.Fragment, int]:
        """(JSON array of the newest `days` bars, oldest first; their number)."""
        return (await read_or(_no_bars(), self._encoded(code, days, adjust, as_of))).last(days)

    async def first_bar(self, code: str | None) -> tuple[str | None] | None:
        """(the date of the first stored bar, of a code when one is given); None when the database does not
        answer."""
        version = (await self._versions.version_of((queries.KLINE,))).token
        known: tuple[str | None] | None = self._cache.get("first bar", code, version)
        if known is None:
            known = await read_or(None, self._first_bar(code))
            if known is not None:
                self._cache.put("first bar", code, version, known, 64)
        return known

    async def _first_bar(self, code: str | None) -> tuple[str | None]:
        return (await self._reading.point(first_date, queries.KLINE, code),)

    async def _encoded(self, code: str, days: int, adjust: str, as_of: str | None) -> EncodedBars:
        if as_of is not None:
            return _encode(await self._reading.point(queries.bars, code, days, as_of), days, adjust)
        version = (await self._versions.version_of((queries.KLINE,))).token
        known: EncodedBars | None = self._cache.get("kline", (code, adjust), version)
        if known is not None and known.holds(days):
            return known
        count = SHALLOW if days <= SHALLOW else DEEP
        made = _encode(await self._reading.point(queries.bars, code, count, None), count, adjust)
        self._cache.put("kline", (code, adjust), version, made, made.size)
        return made

    async def batch_kline(
        self, codes: Sequence[str], days: int, adjust: str, as_of: str | None
    ) -> tuple[dict[str, orjson.Fragment], dict[str, int]]:
        """The newest `days` bars of each code, and their numbers; an empty array when there are none."""
        version = (await self._versions.version_of((queries.KLINE,))).token if as_of is None else None
        found: dict[str, EncodedBars] = {}
        for code in codes:
            known = self._cache.get("kline", (code, adjust), version) if as_of is None else None
            if known is not None and known.holds(days):
                found[code] = known
        missing = [code for code in codes if code not in found]
        if missing:
            read = self._reading.scan(queries.bars_of_codes, missing, days, as_of)
            for code, bars in (await read_or({}, read)).items():
                found[code] = made = _encode(bars, days, adjust)
                self._cache.put("kline", (code, adjust), version, made, made.size)
        reported = {code: found.get(code, _no_bars()).last(days) for code in codes}
        return {code: bars for code, (bars, _) in reported.items()}, {
            code: n for code, (_, n) in reported.items()
        }

    # -- the list ---------------------------------------------------------------------------------

    async def directory(self) -> Directory:
        """The securities; read again when the version of the master or industry table changed."""
        version = (await self._versions.version_of((queries.MASTER, queries.INDUSTRY))).token
        known: Directory | None = self._cache.get("directory", "all", version)
        if known is None:
            known = await read_or(_EMPTY_DIRECTORY, self._reading.scan(_read_directory))
            if known is not _EMPTY_DIRECTORY:
                self._cache.put("directory", "all", version, known, known.size)
        return known

    async def search(self, keyword: str, page: int, page_size: int) -> tuple[list[Listing], int]:
        """(hits of the page, all hits)."""
        hits = (await self.directory()).find(keyword)
        start = (page - 1) * page_size
        return hits[start : start + page_size], len(hits)

    # -- one security -----------------------------------------------------------------------------

    async def detail(self, code: str, as_of: str | None) -> tuple[dict[str, Any], dict[str, bool]]:
        """(figures, data availability). Raises NotFound for a code outside the list; while the database is
        unavailable every figure is null."""
        facts, available = await self._facts(code, as_of)
        if facts is not None and not any(facts.values()):
            raise NotFound(f"{code} is not in the list of securities")
        return _detail(code, facts or {}), available

    async def base_info(self, code: str, as_of: str | None) -> tuple[dict[str, Any] | None, dict[str, bool]]:
        """(key metrics or None, data availability)."""
        facts, available = await self._facts(code, as_of)
        if facts is None or not any(facts.values()):
            return None, available
        return _base_info(code, facts), available

    async def _facts(
        self, code: str, as_of: str | None
    ) -> tuple[dict[str, dict[str, Any]] | None, dict[str, bool]]:
        nothing = dict.fromkeys(queries.AVAILABILITY, False)
        return await read_or((None, nothing), self._reading.point(_read_facts, code, as_of))

    async def quotes(self, codes: Sequence[str]) -> list[dict[str, Any]]:
        """The newest stored quotes."""
        rows = await read_or([], self._reading.scan(queries.newest_quotes, codes))
        return [_quote(row) for row in rows]


def _no_bars() -> EncodedBars:
    return EncodedBars.encode([], is_whole=True)


def _encode(bars: Sequence[Any], asked: int, adjust: str) -> EncodedBars:
    return EncodedBars.encode(adjusted(bars, adjust), is_whole=len(bars) < asked)


def _read_directory(session: Session) -> Directory:
    return Directory.of(queries.listings(session))


def _read_facts(
    session: Session, code: str, as_of: str | None
) -> tuple[dict[str, dict[str, Any]], dict[str, bool]]:
    facts = {
        "master": queries.master(session, code, as_of),
        "wide": queries.newest_wide(session, code, as_of),
        "industry": queries.industry(session, code, as_of),
        "quote": queries.newest_quote(session, code, as_of),
        "valuation": queries.newest_valuation(session, code, as_of),
        "finance": queries.newest_finance(session, code, as_of),
    }
    return facts, queries.availability(session, code, as_of)


def _first(*candidates: tuple[Mapping[str, Any], str]) -> Any:
    """The first value that is not None."""
    return next((row[name] for row, name in candidates if row.get(name) is not None), None)


def _cny(wan: float | None) -> float | None:
    return None if wan is None else round(wan * WAN, 2)


def _detail(code: str, facts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    # The wide row comes first; the day's quote and valuation are the fallback for its missing values.
    wide, quote, valuation, master = (
        facts.get(name, {}) for name in ("wide", "quote", "valuation", "master")
    )
    rows = (wide, quote, valuation)
    return {
        "code": code,
        "name": _first((master, "name"), *((row, "name") for row in rows)),
        "price": _first((wide, "current_price"), (quote, "price"), (valuation, "price")),
        "changePercent": _first((wide, "change_pct"), (quote, "change_pct")),
        "peRatio": _first(*((row, "pe_ttm") for row in rows)),
        "pbRatio": _first(*((row, "pb") for row in rows)),
        "marketCap": _cny(_first(*((row, "total_market_cap") for row in rows))),
        "turnoverRate": _first((wide, "turnover_pct"), (quote, "turnover_pct")),
        "totalShares": _first((master, "total_shares"), (wide, "total_shares")),
        "floatShares": _first((master, "float_shares"), (wide, "float_shares")),
    }


def _base_info(code: str, facts: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    wide, quote, valuation = facts["wide"], facts["quote"], facts["valuation"]
    master, groups, finance = facts["master"], facts["industry"], facts["finance"]
    rows = (wide, quote, valuation)
    concepts = _first((groups, "concepts"), (wide, "concepts"))
    return {
        "code": code,
        "name": _first((master, "name"), (wide, "name")),
        "industry": _first((groups, "industry"), (wide, "industry")),
        "market": _first((master, "market"), (wide, "market")),
        "listDate": _first((master, "list_date"), (wide, "list_date")),
        "totalShares": _first((master, "total_shares"), (wide, "total_shares")),
        "floatShares": _first((master, "float_shares"), (wide, "float_shares")),
        "marketCap": _cny(_first(*((row, "total_market_cap") for row in rows))),
        "floatMarketCap": _cny(_first(*((row, "float_market_cap") for row in rows))),
        "peTtm": _first(*((row, "pe_ttm") for row in rows)),
        "pb": _first(*((row, "pb") for row in rows)),
        "psTtm": _first((wide, "ps_ttm"), (valuation, "ps_ttm")),
        "dividendYield": _first((wide, "dividend_yield"), (valuation, "dividend_yield")),
        "roe": _first((finance, "roe"), (wide, "roe")),
        "grossMargin": _first((finance, "gross_margin"), (wide, "gross_margin")),
        "netMargin": _first((finance, "net_margin"), (wide, "net_margin")),
        "revenueYoy": _first((finance, "revenue_yoy"), (wide, "revenue_yoy")),
        "profitYoy": _first((finance, "net_profit_yoy"), (wide, "net_profit_yoy")),
        "debtRatio": _first((finance, "debt_ratio"), (wide, "debt_ratio")),
        "eps": _first((finance, "eps"), (wide, "eps")),
        "bvps": _first((finance, "bvps"), (wide, "bvps")),
        "reportPeriod": _first((finance, "report_period"), (wide, "report_period")),
        "holderNum": wide.get("holder_num"),
        "concepts": _names(concepts),
    }


def _names(text: str | None) -> list[str]:
    value = orjson.loads(text) if text else []
    return [str(item) for item in value] if isinstance(value, list) else []


def _quote(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "code": row["code"],
        "name": row["name"],
        "price": row["price"],
        "open": row["open"],
        "high": row["high"],
        "low": row["low"],
        "prevClose": row["last_close"],
        "changePercent": row["change_pct"],
        "volume": row["volume"],
        "amount": row["amount"],
        "turnoverRate": row["turnover_pct"],
        "time": row["quote_time"] or row["trade_date"],
    }
