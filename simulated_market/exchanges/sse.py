"""query.sse.com.cn: margin trading, block trades and the billboard. A request without the Referer of the
exchange's pages is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulated_market.block_trades import PUBLISHED, Deal
from simulated_market.days import at, dates_between
from simulated_market.exchanges.billboards import listings_of, shanghai_text
from simulated_market.market_classes import MarketClass
from simulated_market.shared_facts import Books
from simulated_market.wire import Handler, HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.dates import day_of, iso_of
from simulated_market.world.model import Security

_REFERERS = ("https://www.sse.com.cn/", "http://www.sse.com.cn/")
_PRODUCTS = {"主板A股": "01", "主板B股": "02", "科创板": "03", "股票": "17"}
_FORBIDDEN = Reply(b"<html><body>403 Forbidden</body></html>", "text/html", 403)
WAN, YI = 1e4, 1e8


def _with_referer(handle: Handler) -> Handler:
    """Answers those that come from the exchange's pages."""

    def answer(request: HttpRequest, view: View) -> Reply:
        referred = request.headers.get("referer", "").startswith(_REFERERS)
        return handle(request, view) if referred else _FORBIDDEN

    return answer


class SseResponder:
    upstream = "sse"

    def __init__(self, books: Books) -> None:
        self._books = books
        self.routes: Sequence[Route] = (
            route("billboard", r"/infodisplay/showTradePublicFile\.do", _with_referer(self.billboard)),
            route("margin", r"/marketdata/tradedata/queryMargin\.do", _with_referer(self.margin)),
            route("block_trades", r"/commonQuery\.do", _with_referer(self.block_trades)),
        )

    def margin(self, request: HttpRequest, view: View) -> Reply:
        """`tabType=mxtype` the securities of a date, else the market's sums of a range. CNY and shares; the
        detail has null lending amounts."""
        params = request.params()
        if params.get("tabType") == "mxtype":
            rows = self._detail(view, params.get("detailsDate", ""))
        else:
            rows = self._totals(view, params.get("beginDate", ""), params.get("endDate", ""))
        return _page(params, view, rows)

    def block_trades(self, request: HttpRequest, view: View) -> Reply:
        """Deals in shares and funds of a range of dates: texts of 元, 万股, 万元 without closing zeros. Units
        of ETFs come from the same address."""
        params = request.params()
        rows: list[dict[str, Any]] = []
        match params.get("sqlId"):
            case "COMMON_SSE_ZQPZ_ETFZL_XXPL_ETFGM_SEARCH_L":
                rows = etf_units(view, params.get("STAT_DATE", ""))
            case "COMMON_SSE_SJ_GPSJ_CJGK_MRGK_C":
                day = day_of(params.get("SEARCH_DATE", ""))
                rows = [_overview(one, day) for one in self._books.classes.of_date(view, day, "SH")]
            case "COMMON_SSE_XXPL_JYXXPL_DZJYXX_L_1":
                first, last = day_of(params.get("startDate", "")), day_of(params.get("endDate", ""))
                deals = self._books.block_trades.at_exchange(view, first, last, "SH")
                rows = [_deal(one, number) for number, one in enumerate(deals, start=1)]
        return _page(params, view, rows)

    def billboard(self, request: HttpRequest, view: View) -> Reply:
        """The billboard of a date as lines of text; none before it is published."""
        params = request.params()
        day = day_of(params.get("dateTx", ""))
        listings = view.cut(listings_of(self._books.billboard, view, day, day, "SH"))
        document = {
            "actionErrors": [],
            "actionMessages": [],
            "dateTx": params.get("dateTx", ""),
            "fieldErrors": {},
            "fileContents": shanghai_text(listings, day),
            "isTradeDate": "true" if listings else "false",
        }
        return json_reply(document, params.get("jsonCallBack"), spaced=True)

    def _detail(self, view: View, date: str) -> list[dict[str, Any]]:
        return [
            margin_row(
                opDate=str(one.date), stockCode=one.security.code, securityAbbr=one.name, rzye=one.rzye,
                rzmre=one.rzmre, rzche=one.rzche, rqyl=one.rqyl, rqmcl=one.rqmcl, rqchl=one.rqchl,
            )
            for one in self._books.margin.of_date(view, day_of(date), "SH")
        ]  # fmt: skip

    def _totals(self, view: View, since: str, until: str) -> list[dict[str, Any]]:
        first, last = day_of(since), day_of(until)
        rows = []
        for day in reversed([int(one) for one in view.world.trade_dates() if first <= one <= last]):
            names = self._books.margin.of_date(view, day, "SH")
            if not names:
                continue
            sums = {name: sum(getattr(one, name) for one in names) for name in _SUMMED}
            lent = round(sum(one.rqye for one in names))
            rows.append(margin_row(opDate=str(day), **sums, rqylje=lent, rzrqjyzl=sums["rzye"] + lent))
        return rows


_MARGIN_KEYS = (
    "KEY_0", "opDate", "rqchl", "rqmcl", "rqyl", "rqylje", "KEY_6", "rzche", "rzmre", "rzrqjyzl", "rzye",
    "securityAbbr", "stockCode",
)  # fmt: skip
"""A row of the exchange has all of them, null where there is nothing; of two columns only the place is
known."""
_SUMMED = ("rzye", "rzmre", "rqyl", "rqmcl")


def margin_row(**values: Any) -> dict[str, Any]:
    """A row of margin trading, with the keys and the order of the exchange."""
    return {key: values.get(key) for key in _MARGIN_KEYS}


def _deal(one: Deal, number: int) -> dict[str, str]:
    return {
        "NUM": str(number),
        "stockid": one.security.code,
        "abbrname": one.name,
        "tradedate": iso_of(one.date),
        "tradeprice": _shown(one.price),
        "tradeqty": _shown(one.volume / WAN),
        "tradeamount": _shown(one.amount / WAN),
        "branchbuy": one.buyer,
        "branchsell": one.seller,
        "ifZc": "否",
    }


def _overview(one: MarketClass, day: int) -> dict[str, str]:
    return {
        "TOTAL_VALUE": f"{one.cap / YI:.2f}",
        "TRADE_VOL": f"{one.volume / YI:.2f}",
        "AVG_PE_RATE": "-" if one.name == "主板B股" else "14.20",
        "TOTAL_TO_RATE": f"{one.amount / one.cap * 100 if one.cap else 0:.4f}",
        "TRADE_AMT": f"{one.amount / YI:.2f}",
        # A key of which only the place is known.
        "KEY_5": "",
        "NEGO_VALUE": f"{one.float_cap / YI:.2f}",
        "NEGO_TO_RATE": f"{one.amount / one.float_cap * 100 if one.float_cap else 0:.4f}",
        "TRADE_DATE": str(day),
        "LIST_NUM": str(one.count),
        "PRODUCT_CODE": _PRODUCTS[one.name],
    }


def _page(params: Mapping[str, str], view: View, rows: list[dict[str, Any]]) -> Reply:
    """A page of all rows, as JSON or JSONP."""
    total = len(rows)
    size = max(1, int(params.get("pageHelp.pageSize", "25")))
    page = max(1, int(params.get("pageHelp.pageNo", "1")))
    shown = view.page(rows, size, page)
    document = {
        "actionErrors": [],
        "actionMessages": [],
        "pageHelp": {
            "beginPage": page,
            "cacheSize": 1,
            "data": shown,
            "endPage": page,
            "pageCount": -(-total // size),
            "pageNo": page,
            "pageSize": size,
            "total": total,
        },
        "result": shown,
        "success": "true",
    }
    return json_reply(document, params.get("jsonCallBack"), spaced=True)


def _shown(value: float) -> str:
    """Two decimals, half up, without closing zeros."""
    return f"{int(value * 100 + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


def units_of(view: View, day: int, market: str) -> list[tuple[Security, int]]:
    """The ETFs of an exchange with their units at the end of a date."""
    listed = [one for one in view.world.securities(view.now) if one.kind == "etf" and one.market == market]
    units = [(one, view.world.shares(one, at(day, PUBLISHED))[0]) for one in listed]
    return [(one, total) for one, total in units if total]


def etf_units(view: View, date: str) -> list[dict[str, Any]]:
    """Units of the ETFs at the end of a trade date: texts of 万份."""
    day = day_of(date)
    if not dates_between(view, day, day, PUBLISHED):
        return []
    return [
        {
            "NUM": str(number),
            "SEC_CODE": one.code,
            "SEC_NAME": view.world.name(one, view.now),
            "ETF_TYPE": "单市场ETF",
            "STAT_DATE": iso_of(day),
            "TOT_VOL": _shown(total / WAN),
        }
        for number, (one, total) in enumerate(units_of(view, day, "SH"), start=1)
    ]
