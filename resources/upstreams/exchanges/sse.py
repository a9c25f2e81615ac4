"""Shanghai: margin trading (queryMargin), block trades and units of ETFs. Without the Referer of its site
table entry the host answers 403.

CNY and shares. The detail has no lending balance in CNY: `rqylje` and `rzrqjyzl` are null there.
"""

from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.exchanges import sse_billboard
from resources.upstreams.exchanges.common import (
    a_share_listings,
    a_shares,
    deal,
    figure,
    joined,
    overview,
    same_day,
)
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    promised,
    required,
    string_of,
)
from resources.upstreams.parsing.rows import may, named, needed, security_code, text_of, values_of
from resources.upstreams.upstream_client import UpstreamClient

# -- The common form of answers of query.sse.com.cn: pages with a total number of rows.

PAGE = 5000


def page_params(page: int) -> tuple[tuple[str, str], ...]:
    return pairs(
        f"isPagination=true&pageHelp.pageSize={PAGE}&pageHelp.pageNo={page}&pageHelp.beginPage={page}"
        f"&pageHelp.endPage={page}&pageHelp.cacheSize=1"
    )


def parse_rows(body: bytes, what: str) -> tuple[list[dict[str, Any]], int]:
    """(rows of the page, rows of all pages)."""
    document = object_of(json_of(body), what)
    if document.get("actionErrors"):
        raise PayloadError(f"{what}: {str(document['actionErrors'])[:80]}")
    paging = object_of(document.get("pageHelp"), f"{what} pageHelp")
    raw = list_of(document.get("result"), f"{what} result")
    total = paging.get("total")
    if type(total) is not int or not len(raw) <= total:
        raise PayloadError(f"{what}: {len(raw)} rows of {total!r}")
    return raw, total


# -- Shanghai: block trades in shares and funds (commonQuery, sqlId ..._DZJYXX_L_1). 元, 万股 and 万元.

_SQL = "COMMON_SSE_XXPL_JYXXPL_DZJYXX_L_1"
_WIRE = named(
    "code stockid date tradedate name abbrname price tradeprice volume tradeqty amount tradeamount "
    "buyer branchbuy seller branchsell"
)


def deals_request(since: str, until: str, page: int = 1) -> Request:
    params = (("sqlId", _SQL), ("stockId", ""), ("startDate", since), ("endDate", until))
    return Request(
        "sse.query",
        "block_trades",
        "/commonQuery.do",
        (*page_params(page), *params),
        label=f"{since}..{until} {page}",
    )


def parse_deals(body: bytes, since: str, until: str) -> Page:
    """One page, rows with the keys of `DEAL_COLUMNS`; empty where nothing was dealt or published."""
    raw, total = parse_rows(body, "SSE block trades")

    def made(listed: Any) -> dict[str, Any]:
        row = object_of(listed, "SSE block trades row")
        promised(row, _WIRE.values(), "SSE block trades")
        return deal({name: row[wire] for name, wire in _WIRE.items()}, "SSE", since, until)

    rows = accepted_rows(raw, made, "SSE block trades", named_by(_WIRE["code"]))
    return Page(rows, len(raw), total)


# -- Shanghai: units of every ETF by trade date (commonQuery, sqlId ..._ETFGM_SEARCH_L), in 万份.

UNIT_COLUMNS: dict[str, str] = {**texts("code trade_date name"), **numbers("total_shares")}
_SSE_FUNDS_SQL = "COMMON_SSE_ZQPZ_ETFZL_XXPL_ETFGM_SEARCH_L"
_WAN = 1e4
_MOST = 1e12
"""Units of one fund: more is another unit."""


def units_request(day: str, page: int = 1) -> Request:
    """One page of the ETFs of a trade date."""
    params = (*page_params(page), ("sqlId", _SSE_FUNDS_SQL), ("STAT_DATE", day))
    return Request("sse.query", "etf_units", "/commonQuery.do", params, label=f"{day} {page}")


def parse_units(body: bytes, day: str) -> Page:
    """One page, rows with the keys of `UNIT_COLUMNS`; empty where nothing is published. PayloadError for
    another day, or another unit."""
    raw, total = parse_rows(body, "SSE ETF units")

    def read(listed: Any) -> dict[str, Any]:
        return _row(object_of(listed, "SSE ETF units row"), day)

    rows = accepted_rows(raw, read, "SSE ETF units", named_by("SEC_CODE"))
    return Page(rows, len(raw), total)


def _row(row: dict[str, Any], day: str) -> dict[str, Any]:
    code = security_code(row.get("SEC_CODE"), "SSE ETF units SEC_CODE")
    what = f"SSE ETF units {code}"
    units = required(amount(row.get("TOT_VOL"), f"{what} TOT_VOL", scale=_WAN), f"{what} TOT_VOL")
    if units > _MOST:
        raise PayloadError(f"{what}: {units:.0f} units: another unit")
    return {
        "code": code,
        "trade_date": same_day(iso_day(str(row.get("STAT_DATE")), f"{what} STAT_DATE"), day, what),
        "name": text_of(row.get("SEC_NAME"), f"{what} SEC_NAME"),
        "total_shares": float(round(units)),
    }


def units_frame(rows: list[dict[str, Any]], what: str = "SSE ETF units", source: str = "sse") -> pd.DataFrame:
    """All pages; columns `UNIT_COLUMNS`, each fund once."""
    return once_each(frame(rows, UNIT_COLUMNS), ["code"], what)


# -- Shanghai: the market by class on one date (commonQuery, sqlId ..._CJGK_MRGK_C). 亿元, 亿股, percent.
# Known by prose: the figures. Known by what public clients read: `PRODUCT_CODE` and `TRADE_DATE` of a row.

CLASSES = {"01": "主板A股", "02": "主板B股", "03": "科创板", "11": "股票回购", "17": "股票"}
"""PRODUCT_CODE -> class."""
_SSE_OVERVIEW_SQL = "COMMON_SSE_SJ_GPSJ_CJGK_MRGK_C"
_FIGURES = named(
    "listed_count LIST_NUM total_market_cap_yi TOTAL_VALUE float_market_cap_yi NEGO_VALUE "
    "amount_yi TRADE_AMT volume_yi TRADE_VOL"
)


def overview_request(day: str) -> Request:
    params = pairs(
        f"sqlId={_SSE_OVERVIEW_SQL}&PRODUCT_CODE={','.join(CLASSES)}&type=inParams&SEARCH_DATE={day}"
    )
    return Request("sse.query", "overview", "/commonQuery.do", params, label=day)


def parse_overview(body: bytes, day: str) -> pd.DataFrame:
    """Columns `OVERVIEW_COLUMNS`; empty on a day without trading or before publication."""
    document = object_of(json_of(body), "SSE overview")
    if document.get("actionErrors"):
        raise PayloadError(f"SSE overview: {str(document['actionErrors'])[:80]}")

    def read(raw: Any) -> dict[str, Any]:
        row = object_of(raw, "SSE overview row")
        product = string_of(row.get("PRODUCT_CODE"), "SSE overview PRODUCT_CODE")
        if product not in CLASSES:
            raise PayloadError(f"SSE overview: PRODUCT_CODE {product[:10]!r} was not asked for")
        return _sse_overview_row(row, CLASSES[product], day)

    listed = list_of(document.get("result"), "SSE overview result")
    rows = accepted_rows(listed, read, "SSE overview", named_by("PRODUCT_CODE"))
    return overview(rows, "SSE overview")


def _sse_overview_row(row: dict[str, Any], name: str, day: str) -> dict[str, Any]:
    what = f"SSE overview {name}"
    same_day(iso_day(string_of(row.get("TRADE_DATE"), f"{what} TRADE_DATE"), what), day, what)
    made: dict[str, Any] = {"trade_date": day, "exchange": "SSE", "sec_class": name}
    for column, wire in _FIGURES.items():
        if wire not in row:
            raise PayloadError(f"{what}: no field {wire}")
        made[column] = amount(row[wire], f"{what} {wire}")
    required(made["amount_yi"], f"{what} TRADE_AMT")
    made["pe_ratio"] = number(row.get("AVG_PE_RATE"), f"{what} AVG_PE_RATE")
    made["turnover_pct"] = amount(row.get("TOTAL_TO_RATE"), f"{what} TOTAL_TO_RATE")
    return made


_MOST_PAGES = 5
_SLACK = 1.0


_MARGIN = (
    *may(needed(figure), rzye="rzye"),
    *may(
        figure, rzmre="rzmre", rzche="rzche", rqyl="loan_volume", rqmcl="rqmcl", rqchl="rqchl", rqylje="rqye"
    ),
    *may(figure, rzrqjyzl="rzrqye"),
)


def margin_request(day: str, page: int = 1, *, detail: bool) -> Request:
    """One page of the securities of a trade date, or the market's sums."""
    compact = day.replace("-", "")
    asked: tuple[tuple[str, str], ...] = (
        (("tabType", "mxtype"), ("detailsDate", compact), ("stockCode", ""))
        if detail
        else (("beginDate", compact), ("endDate", compact), ("tabType", ""), ("stockCode", ""))
    )
    call = "margin_detail" if detail else "margin_total"
    params = (*page_params(page), *asked)
    return Request("sse.query", call, "/marketdata/tradedata/queryMargin.do", params, label=f"{day} {page}")


def parse_margin(body: bytes, day: str, *, detail: bool) -> Page:
    """Rows with the keys of `MARGIN_COLUMNS`; none on a day without trading or before publication."""
    what = "SSE margin detail" if detail else "SSE margin total"
    raw, total = parse_rows(body, what)
    if not detail and len(raw) > 1:
        raise PayloadError(f"{what}: {len(raw)} rows of one date")

    def read(listed: Any) -> dict[str, Any]:
        return _sse_row(object_of(listed, f"{what} row"), day, what, detail)

    rows = accepted_rows(raw, read, what, named_by("stockCode"))
    return Page(rows, len(raw), total)


def _sse_row(row: dict[str, Any], day: str, what: str, detail: bool) -> dict[str, Any]:
    code = security_code(row.get("stockCode"), f"{what} stockCode") if detail else "TOTAL_SH"
    label = f"{what} {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": same_day(iso_day(str(row.get("opDate")), f"{label} opDate"), day, label),
        "exchange": "SSE",
        "name": text_of(row.get("securityAbbr"), f"{label} securityAbbr") if detail else None,
        **values_of(row, _MARGIN, label),
    }
    if abs(made["rzye"] + made["rqye"] - made["rzrqye"]) > _SLACK:
        raise PayloadError(f"{label}: rzye + rqylje is not rzrqjyzl")
    return made


class SseClient(UpstreamClient):
    source = "sse"

    def margin(self, day: str) -> pd.DataFrame:
        """Every margin security of a trade date and the row `TOTAL_SH`, two calls; columns
        `MARGIN_COLUMNS`, `rqye` and `rzrqye` of securities missing. Empty where nothing is published."""
        total = self._ask(margin_request(day, detail=False), parse_margin, day=day, detail=False)

        def ask(page: int) -> Page:
            request = margin_request(day, page, detail=True)
            return self._ask(request, parse_margin, day=day, detail=True)

        rows = collected(ask, f"SSE margin detail {day}", most_pages=_MOST_PAGES, key=("code",))
        return joined(total.rows, rows, "SSE margin")

    def overview(self, day: str) -> pd.DataFrame:
        """Turnover and value of the market on one date, by class, one call; columns `OVERVIEW_COLUMNS`.
        Empty where nothing is published."""
        parse = partial(parse_overview, day=day)
        return self._ask(overview_request(day), parse)

    def billboard(self, day: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The listings of one date and their seats, one call; columns `BILLBOARD_COLUMNS` and
        `BILLBOARD_SEAT_COLUMNS`, A shares alone. Empty where nothing is published."""
        parse = partial(sse_billboard.parse_billboard, day=day)
        board = self._ask(sse_billboard.billboard_request(day), parse)
        return a_share_listings(board.listings, "SH", "SSE billboard"), sse_billboard.seats_frame(board)

    def block_trades(self, since: str, until: str) -> pd.DataFrame:
        """Block trades in A shares between two dates, one call for 5,000 deals; columns `DEAL_COLUMNS`.
        Empty where nothing is published."""

        def ask(page: int) -> Page:
            request = deals_request(since, until, page)
            return self._ask(request, parse_deals, since=since, until=until)

        rows = collected(ask, f"SSE block trades {since}..{until}", most_pages=_MOST_PAGES)
        return a_shares(rows, "SH")

    def etf_units(self, day: str) -> pd.DataFrame:
        """Units of every ETF at the end of a trade date, one call; columns `UNIT_COLUMNS`. Empty where
        nothing is published."""

        def ask(page: int) -> Page:
            return self._ask(units_request(day, page), parse_units, day=day)

        return units_frame(collected(ask, f"SSE ETF units {day}", most_pages=_MOST_PAGES, key=("code",)))
