"""www.szse.cn: ShowReport tables (margin trading 1837_xxpl as JSON tabs and as a workbook, block trades
1932_dzjyzqjy_after as JSON); notices."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from resources.simulated_market.block_trades import PUBLISHED, Deal
from resources.simulated_market.corrupted_responses import sheet_rows
from resources.simulated_market.days import at
from resources.simulated_market.exchanges.billboards import listings_of, shenzhen_row
from resources.simulated_market.exchanges.sheet import MEDIA_TYPE, workbook
from resources.simulated_market.exchanges.sse import units_of
from resources.simulated_market.exchanges.szse_notices import notices
from resources.simulated_market.margin import Margin
from resources.simulated_market.shared_facts import Books
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from resources.simulated_market.world.dates import day_of, iso_of
from resources.simulated_market.world.model import Security

PAGE = 20
YI, WAN = 1e8, 1e4
Fact = TypeVar("Fact")
_MARGIN, _DEALS, _CLASSES = "1837_xxpl", "1932_dzjyzqjy_after", "1803_sczm"
_BILLBOARD, _FUNDS = "1842_xxpl", "1000_lf"
_HEADS = (
    "证券代码", "证券简称", "融资买入额(元)", "融资余额(元)", "融券卖出量(股/份)", "融券余量(股/份)",
    "融券余额(元)", "融资融券余额(元)",
)  # fmt: skip


class SzseResponder:
    upstream = "szse"

    def __init__(self, books: Books) -> None:
        self._book = books.margin
        self._deals = books.block_trades
        self._classes = books.classes
        self._billboard = books.billboard
        self.routes: Sequence[Route] = (
            route("report_tabs", r"/api/report/ShowReport/data", self.tabs),
            route("margin_sheet", r"/api/report/ShowReport", self.sheet),
            route("notices", r"/api/disc/announcement/annList", partial(notices, books.notices)),
        )

    def tabs(self, request: HttpRequest, view: View) -> Reply:
        """The report that CATALOGID names; empty for an unknown one."""
        catalog = request.params().get("CATALOGID")
        if catalog == _DEALS:
            return self._block_trades(request, view)
        if catalog == _FUNDS:
            return _etf_units(request, view)
        if catalog == _BILLBOARD:
            return self._listings(request, view)
        return self._margin(request, view)

    def _listings(self, request: HttpRequest, view: View) -> Reply:
        """Billboard listings of a range of dates, without seats."""
        first, last = _dates(request)
        listings = listings_of(self._billboard, view, first, last, "SZ")
        return _paged(request, view, ("tab1", "交易公开信息", _BILLBOARD), last, listings, shenzhen_row)

    def _block_trades(self, request: HttpRequest, view: View) -> Reply:
        """Deals in shares and funds of a range of dates."""
        first, last = _dates(request)
        deals = self._deals.at_exchange(view, first, last, "SZ")
        return _paged(request, view, ("tab2", "协议交易", _DEALS), last, deals, _deal)

    def _margin(self, request: HttpRequest, view: View) -> Reply:
        """Two tabs in a list, every figure a text: 亿元 and 亿股 of the market; 亿元, 万股 and 万元 of the
        securities, 20 a page."""
        params = request.params()
        names = self._names(view, params)
        if names is None:
            return Reply(b"[]")
        day = day_of(params.get("txtDate", ""))
        page = max(1, int(params.get("tab2PAGENO", "1")))
        shown = names[(page - 1) * PAGE : page * PAGE]
        market = [_total(names)] if names else []
        detail = [_detail(one) for one in shown]
        document = [
            _tab("tab1", "融资融券交易总量", day, market, len(market), 1),
            _tab("tab2", "融资融券交易明细", day, detail, len(names), page),
        ]
        return json_reply(document, spaced=True)

    def sheet(self, request: HttpRequest, view: View) -> Reply:
        """All securities of a date in 元 and 股; the market by class where CATALOGID asks for that."""
        params = request.params()
        if params.get("CATALOGID") == _CLASSES:
            return self._overview(view, day_of(params.get("txtQueryDate", "")))
        names = view.cut(self._names(view, request.params()) or [])
        rows = [
            (
                one.security.code,
                one.name,
                f"{one.rzmre:,}",
                f"{one.rzye:,}",
                f"{one.rqmcl:,}",
                f"{one.rqyl:,}",
                f"{one.rqye:,.2f}",
                f"{one.rzrqye:,.2f}",
            )
            for one in names
        ]
        return Reply(workbook(sheet_rows([_HEADS, *rows], view.fault)), MEDIA_TYPE)

    def _overview(self, view: View, day: int) -> Reply:
        """元; funds and bonds have no float of their own."""
        rows = [
            (one.name, f"{one.count:,}", f"{one.amount:,.2f}", f"{one.cap:,.2f}", f"{one.float_cap:,.2f}")
            for one in self._classes.of_date(view, day, "SZ")
        ]
        return Reply(
            workbook(sheet_rows([("证券类别", "数量", "成交金额", "总市值", "流通市值"), *rows], view.fault)),
            MEDIA_TYPE,
        )

    def _names(self, view: View, params: dict[str, str]) -> list[Margin] | None:
        if params.get("CATALOGID") != _MARGIN:
            return None
        return self._book.of_date(view, day_of(params.get("txtDate", "")), "SZ")


def _tab(
    key: str, name: str, day: int, data: list[Any], count: int, page: int, catalog: str = _MARGIN
) -> dict[str, Any]:
    return {
        "metadata": {
            "catalogid": catalog,
            "name": name,
            "tabkey": key,
            "subname": iso_of(day),
            "pagesize": PAGE,
            "pageno": page,
            "pagecount": -(-count // PAGE),
            "recordcount": count,
            "cols": {},
        },
        "data": data,
        "error": None,
    }


def _dates(request: HttpRequest) -> tuple[int, int]:
    params = request.params()
    return day_of(params.get("txtStart", "")), day_of(params.get("txtEnd", ""))


def _paged(
    request: HttpRequest,
    view: View,
    head: tuple[str, str, str],
    day: int,
    found: Sequence[Fact],
    row: Callable[[Fact], dict[str, str]],
) -> Reply:
    """A report of one tab, 20 rows a page; `head` are the tab, its name and the catalogue number."""
    key, name, catalog = head
    page = max(1, int(request.params().get("PAGENO", "1")))
    shown = view.cut(found[(page - 1) * PAGE : page * PAGE])
    data = [row(one) for one in shown]
    return json_reply([_tab(key, name, day, data, len(found), page, catalog=catalog)], spaced=True)


def _etf_units(request: HttpRequest, view: View) -> Reply:
    """ETFs with their units of the newest published date, 万份 in links."""
    dates = [int(day) for day in view.world.trade_dates()]
    day = max(one for one in dates if at(one, PUBLISHED) <= view.now)

    def row(fund: tuple[Security, int]) -> dict[str, str]:
        one, total = fund
        return {
            "sys_key": f"<a href='/fund/{one.code}'><u>{one.code}</u></a>",
            "jjjcurl": f"<a href='/fund/{one.code}'><u>{view.world.name(one, view.now)}</u></a>",
            "jjlb": "ETF",
            "tzlb": "股票基金",
            "ssrq": iso_of(one.list_date),
            "dqgm": f"<a href='/units/{one.code}'>{total / WAN:,.2f}</a>",
            "glrmc": "",
        }

    return _paged(request, view, ("tab1", "基金列表", _FUNDS), day, units_of(view, day, "SZ"), row)


def _total(names: Sequence[Margin]) -> dict[str, str]:
    financed, lent = sum(one.rzye for one in names), sum(one.rqye for one in names)
    return {
        "jrrzmr": _shown(sum(one.rzmre for one in names) / YI),
        "jrrzye": _shown(financed / YI),
        "jrrjmc": _shown(sum(one.rqmcl for one in names) / YI),
        "jrrjyl": _shown(sum(one.rqyl for one in names) / YI),
        "jrrjye": _shown(lent / YI),
        "jrrzrjye": _shown((financed + lent) / YI),
    }


def _detail(one: Margin) -> dict[str, str]:
    return {
        "zqdm": one.security.code,
        "zqjc": one.name,
        "jrrzmr": _shown(one.rzmre / YI),
        "jrrzye": _shown(one.rzye / YI),
        "jrrjmc": _shown(one.rqmcl / WAN),
        "jrrjyl": _shown(one.rqyl / WAN),
        "jrrjye": _shown(one.rqye / WAN),
        "jrrzrjye": _shown(one.rzrqye / YI),
    }


def _deal(one: Deal) -> dict[str, str]:
    return {
        "zqdh": one.security.code,
        "zqjc": one.name,
        "cjrq": iso_of(one.date),
        "cjjg": _shown(one.price),
        "cjgsnew": _shown(one.volume / WAN),
        "cjjenew": _shown(one.amount / WAN),
        "bxwmc": one.buyer,
        "sxwmc": one.seller,
    }


def _shown(value: float) -> str:
    return f"{value:,.2f}"
