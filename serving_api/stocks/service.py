"""Stock reads: which rows are returned, and the form of an empty answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from core.declaration.columns import Column
from core.errors import InputError, NotFound
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.datasets.stock_wide import StockWide
from serving_api.db.request_notes import current_code
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.stocks import queries
from serving_api.stocks.bars import Bar, adjusted, lines_of
from serving_api.stocks.directory import Directory, Listing

WAN = 10_000.0

Parts = tuple[tuple[tuple[str, ...], tuple[Column, ...]], ...]
"""(kinds of facts in the order in which they are asked, columns)."""
OF_THE_DAY = ("wide", "quote", "valuation")
"""The wide row comes first; the day's quote and valuation are the fallback for its missing values."""
_SHARES = (StockWide.total_shares.label("totalShares"), StockWide.float_shares.label("floatShares"))
DETAIL: Parts = (
    (("master", *OF_THE_DAY), (StockWide.name,)),
    (("wide", "quote"), (
        StockWide.change_pct.label("changePercent"), StockWide.turnover_pct.label("turnoverRate"),
    )),
    (OF_THE_DAY, (StockWide.pe_ttm.label("peRatio"), StockWide.pb.label("pbRatio"))),
    (("master", "wide"), _SHARES),
)  # fmt: skip
BASE_INFO: Parts = (
    (("master", "wide"), (
        StockWide.name, StockWide.market, StockWide.list_date.label("listDate"), *_SHARES,
    )),
    (("industry", "wide"), (StockWide.industry,)),
    (OF_THE_DAY, (StockWide.pe_ttm.label("peTtm"), StockWide.pb)),
    (("wide", "valuation"), (
        StockWide.ps_ttm.label("psTtm"), StockWide.dividend_yield.label("dividendYield"),
    )),
    (("finance", "wide"), (
        StockWide.roe, StockWide.gross_margin.label("grossMargin"), StockWide.net_margin.label("netMargin"),
        StockWide.revenue_yoy.label("revenueYoy"), StockWide.net_profit_yoy.label("profitYoy"),
        StockWide.debt_ratio.label("debtRatio"), StockWide.eps, StockWide.bvps,
        StockWide.report_period.label("reportPeriod"),
    )),
    (("wide",), (StockWide.holder_num.label("holderNum"),)),
)  # fmt: skip

_COLUMNS = tuple(
    dict.fromkeys(
        (
            *("code", "date", "trade_date", "price", "current_price"),
            *("total_market_cap", "float_market_cap", "concepts"),
            *(str(column) for _, part in (*DETAIL, *BASE_INFO) for column in part),
        )
    )
)
"""Columns that are read of every kind of facts."""

_EMPTY_DIRECTORY = Directory.of(())


class Stocks:
    """Reads of single securities."""

    def __init__(self, state: State) -> None:
        self._reading = state.reading
        self._versions = state.versions
        self._cache = state.cache

    # -- bars -------------------------------------------------------------------------------------

    async def kline(
        self, code: str, days: int, adjust: str, as_of: str | None, *, lines: bool = False
    ) -> tuple[list[dict[str, Any]], tuple[str | None] | None, dict[str, list[float | None]]]:
        """(the newest `days` bars, oldest first; (date of its first stored row,), or None when the
        database does not answer; the lines of these bars, {} unless `lines`)."""
        nothing: tuple[list[Bar], None] = ([], None)
        count = days + WARM_UP_BARS if lines else days
        read = self._reading.point(queries.bars_and_first, code, count, as_of, adjust)
        stored, first = await read_or(nothing, read)
        bars = adjusted(stored, adjust)
        return bars[-days:], first, lines_of(bars, days) if lines else {}

    async def batch_kline(
        self, codes: Sequence[str], days: int, adjust: str, as_of: str | None
    ) -> tuple[dict[str, list[dict[str, Any]]], tuple[str | None] | None]:
        """(the newest `days` bars of each code, none where there are none; as of `kline`, of all codes)."""
        read = self._reading.scan(queries.bars_of_codes_and_first, codes, days, as_of, adjust)
        nothing: tuple[dict[str, list[Bar]], None] = ({}, None)
        found, first = await read_or(nothing, read)
        return {code: adjusted(found.get(code, []), adjust) for code in codes}, first

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
        """(hits of the page, all hits). Raises InputError for a code that was replaced by an unknown one."""
        try:
            sought = current_code(keyword.strip())
        except ValueError as problem:
            raise InputError("keyword", str(problem)) from None
        hits = (await self.directory()).find(sought)
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
        return await read_or((None, nothing), self._reading.point(queries.facts, code, as_of, _COLUMNS))

    async def quotes(self, codes: Sequence[str]) -> list[dict[str, Any]]:
        """The newest stored quotes."""
        rows = await read_or([], self._reading.scan(queries.newest_quotes, codes))
        return [_quote(row) for row in rows]


def _read_directory(session: Session) -> Directory:
    return Directory.of(queries.listings(session))


Facts = Mapping[str, dict[str, Any]]


def _first(facts: Facts, kinds: Iterable[str], column: str) -> Any:
    """The first value that is not None."""
    return next((value for kind in kinds if (value := facts.get(kind, {}).get(column)) is not None), None)


def _merged(facts: Facts, parts: Parts) -> dict[str, Any]:
    return {column.key: _first(facts, kinds, column) for kinds, columns in parts for column in columns}


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
    shown = {column.key: row[column] for column in queries.SHOWN}
    return {**shown, "time": row["quote_time"] or row["trade_date"]}
