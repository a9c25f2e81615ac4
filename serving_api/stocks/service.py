"""Stock reads: which rows are returned, and the form of an empty answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from core.errors import NotFound
from core.records import columns_by_key, picked
from serving_api.db.first_dates import first_date
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.stocks import queries
from serving_api.stocks.bars import EncodedBars, adjusted
from serving_api.stocks.directory import Directory, Listing

SHALLOW, DEEP = 250, 2000
"""Bars that one read of a code fetches: a year, which most charts need, or the maximum."""
WAN = 10_000.0

Parts = tuple[tuple[tuple[str, ...], str], ...]
"""(kinds of facts in the order in which they are asked, columns in the notation of `columns_of`)."""
OF_THE_DAY = ("wide", "quote", "valuation")
"""The wide row comes first; the day's quote and valuation are the fallback for its missing values."""
_SHARES = "totalShares=total_shares floatShares=float_shares"
DETAIL: Parts = (
    (("master", *OF_THE_DAY), "name"),
    (("wide", "quote"), "changePercent=change_pct turnoverRate=turnover_pct"),
    (OF_THE_DAY, "peRatio=pe_ttm pbRatio=pb"),
    (("master", "wide"), _SHARES),
)
BASE_INFO: Parts = (
    (("master", "wide"), f"name market listDate=list_date {_SHARES}"),
    (("industry", "wide"), "industry"),
    (OF_THE_DAY, "peTtm=pe_ttm pb"),
    (("wide", "valuation"), "psTtm=ps_ttm dividendYield=dividend_yield"),
    (
        ("finance", "wide"),
        "roe grossMargin=gross_margin netMargin=net_margin revenueYoy=revenue_yoy profitYoy=net_profit_yoy "
        "debtRatio=debt_ratio eps bvps reportPeriod=report_period",
    ),
    (("wide",), "holderNum=holder_num"),
)

_EMPTY_DIRECTORY = Directory.of(())


class Stocks:
    """Reads of single securities."""

    def __init__(self, state: State) -> None:
        self._reading = state.reading
        self._versions = state.versions
        self._cache = state.cache

    # -- bars -------------------------------------------------------------------------------------

    async def kline(
        self, code: str, days: int, adjust: str, as_of: str | None
    ) -> tuple[orjson.Fragment, int, tuple[str | None] | None]:
        """(JSON array of the newest `days` bars, oldest first; their number; as `first_bar`)."""
        found = await read_or(None, self._encoded(code, days, adjust, as_of))
        if found is None:
            return (*_no_bars().last(days), None)
        return (*found.last(days), found.first or await self.first_bar(code))

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
            return await self._read(code, days, adjust, as_of)
        version = (await self._versions.version_of((queries.KLINE,))).token
        known: EncodedBars | None = self._cache.get("kline", (code, adjust), version)
        if known is not None and known.holds(days):
            return known
        made = await self._read(code, SHALLOW if days <= SHALLOW else DEEP, adjust, None)
        self._cache.put("kline", (code, adjust), version, made, made.size)
        return made

    async def _read(self, code: str, count: int, adjust: str, as_of: str | None) -> EncodedBars:
        bars, first = await self._reading.point(queries.bars_and_first, code, count, as_of)
        return _encode(bars, count, adjust, first)

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
        bars_of = {code: bars for code, (bars, _) in reported.items()}
        return bars_of, {code: count for code, (_, count) in reported.items()}

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
        return await read_or((None, nothing), self._reading.point(queries.facts, code, as_of))

    async def quotes(self, codes: Sequence[str]) -> list[dict[str, Any]]:
        """The newest stored quotes."""
        rows = await read_or([], self._reading.scan(queries.newest_quotes, codes))
        return [_quote(row) for row in rows]


def _no_bars() -> EncodedBars:
    return EncodedBars.encode([], is_whole=True)


def _encode(
    bars: Sequence[Any], asked: int, adjust: str, first: tuple[str | None] | None = None
) -> EncodedBars:
    return EncodedBars.encode(adjusted(bars, adjust), is_whole=len(bars) < asked, first=first)


def _read_directory(session: Session) -> Directory:
    return Directory.of(queries.listings(session))


Facts = Mapping[str, dict[str, Any]]


def _first(facts: Facts, kinds: Iterable[str], column: str) -> Any:
    """The first value that is not None."""
    return next((value for kind in kinds if (value := facts.get(kind, {}).get(column)) is not None), None)


def _merged(facts: Facts, parts: Parts) -> dict[str, Any]:
    return {
        key: _first(facts, kinds, column)
        for kinds, columns in parts
        for key, column in columns_by_key(columns).items()
    }


def _cap(facts: Facts, column: str) -> float | None:
    """A market cap, CNY."""
    wan = _first(facts, OF_THE_DAY, column)
    return None if wan is None else round(wan * WAN, 2)


def _detail(code: str, facts: Facts) -> dict[str, Any]:
    price = _first(facts, ("wide",), "current_price")
    return {
        "code": code,
        **_merged(facts, DETAIL),
        "price": _first(facts, ("quote", "valuation"), "price") if price is None else price,
        "marketCap": _cap(facts, "total_market_cap"),
    }


def _base_info(code: str, facts: Facts) -> dict[str, Any]:
    return {
        "code": code,
        **_merged(facts, BASE_INFO),
        "marketCap": _cap(facts, "total_market_cap"),
        "floatMarketCap": _cap(facts, "float_market_cap"),
        "concepts": _names(_first(facts, ("industry", "wide"), "concepts")),
    }


def _names(text: str | None) -> list[str]:
    value = orjson.loads(text) if text else []
    return [str(item) for item in value] if isinstance(value, list) else []


def _quote(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**picked(row, queries.SHOWN), "time": row["quote_time"] or row["trade_date"]}
