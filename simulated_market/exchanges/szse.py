"""www.szse.cn: ShowReport tables (margin trading 1837_xxpl as JSON tabs and as a workbook, block trades
1932_dzjyzqjy_after as JSON); notices; the months of the calendar."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Any, TypeVar

from simulated_market.arrangements import announced_year, closed_days
from simulated_market.block_trades import PUBLISHED, Deal
from simulated_market.corrupted_responses import sheet_rows
from simulated_market.days import at
from simulated_market.exchanges.billboards import listings_of, shenzhen_row
from simulated_market.exchanges.sheet import MEDIA_TYPE, workbook
from simulated_market.exchanges.sse import units_of
from simulated_market.exchanges.szse_notices import notices
from simulated_market.margin import Margin
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.dates import day_of, iso_of
from simulated_market.world.model import Security

PAGE = 20
_MONTH = r"[0-9]{4}-[0-9]{1,2}"
YI, WAN = 1e8, 1e4
_IN_YI = {"jrrzmr", "jrrzye", "jrrzrjye"}
"""Figures of a security in 亿元; its others are in 万."""
Fact = TypeVar("Fact")
_MARGIN, _CLASSES = "1837_xxpl", "1803_sczm"
_HEADS = (
    "证券代码", "证券简称", "融资买入额(元)", "融资余额(元)", "融券卖出量(股/份)", "融券余量(股/份)",
    "融券余额(元)", "融资融券余额(元)",
)  # fmt: skip


class SzseResponder:
    upstream = "szse"

    def __init__(self, books: Books) -> None:
        self._books = books
        self.routes: Sequence[Route] = (
            route("report_tabs", r"/api/report/ShowReport/data", self.tabs),
            route("margin_sheet", r"/api/report/ShowReport", self.sheet),
            route("notices", r"/api/disc/announcement/annList", partial(notices, books.notices)),
            route("month_days", r"/api/report/exchange/onepersistenthour/monthList", month_days),
        )

    def tabs(self, request: HttpRequest, view: View) -> Reply:
        """The report that CATALOGID names; empty for an unknown one."""
        params = request.params()
        first, last = day_of(params.get("txtStart", "")), day_of(params.get("txtEnd", ""))
        match params.get("CATALOGID"):
            case "1932_dzjyzqjy_after":  # deals in shares and funds of a range of dates
                deals = self._books.block_trades.at_exchange(view, first, last, "SZ")
                return _paged(params, view, ("tab2", "协议交易"), last, deals, _deal)
            case "1842_xxpl":  # billboard listings of a range of dates, without seats
                listings = listings_of(self._books.billboard, view, first, last, "SZ")
                return _paged(params, view, ("tab1", "交易公开信息"), last, listings, shenzhen_row)
            case "1000_lf":
                return _etf_units(params, view)
        return self._margin(params, view)

    def _margin(self, params: dict[str, str], view: View) -> Reply:
        """Two tabs in a list, every figure a text: 亿元 and 亿股 of the market; 亿元, 万股 and 万元 of the
        securities, 20 a page."""
        if params.get("CATALOGID") != _MARGIN:
            return Reply(b"[]")
        names = self._names(view, params)
        day = day_of(params.get("txtDate", ""))
        page = max(1, int(params.get("tab2PAGENO", "1")))
        market = [_total(names)] if names else []
        detail = [_detail(one) for one in names[(page - 1) * PAGE : page * PAGE]]
        document = [
            _tab("tab1", "融资融券交易总量", day, market, len(market), 1, _MARGIN),
            _tab("tab2", "融资融券交易明细", day, detail, len(names), page, _MARGIN),
        ]
        return json_reply(document, spaced=True)

    def sheet(self, request: HttpRequest, view: View) -> Reply:
        """All securities of a date in 元 and 股; the market by class where CATALOGID asks for that, in which
        funds and bonds have no float of their own."""
        params = request.params()
        rows: list[tuple[str, ...]] = [_HEADS]
        if params.get("CATALOGID") == _CLASSES:
            rows = [("证券类别", "数量", "成交金额", "总市值", "流通市值")]
            for group in self._books.classes.of_date(view, day_of(params.get("txtQueryDate", "")), "SZ"):
                sums = map(_shown, (group.amount, group.cap, group.float_cap))
                rows.append((group.name, f"{group.count:,}", *sums))
        elif params.get("CATALOGID") == _MARGIN:
            for one in view.cut(self._names(view, params)):
                counts = (f"{count:,}" for count in (one.rzmre, one.rzye, one.rqmcl, one.rqyl))
                rows.append((one.security.code, one.name, *counts, _shown(one.rqye), _shown(one.rzrqye)))
        return Reply(workbook(sheet_rows(rows, view.fault)), MEDIA_TYPE)

    def _names(self, view: View, params: dict[str, str]) -> list[Margin]:
        return self._books.margin.of_date(view, day_of(params.get("txtDate", "")), "SZ")


def month_days(request: HttpRequest, view: View) -> Reply:
    """Every day of a month. Of the year after the announced one all weekdays are open; beyond it is none."""
    month, announced = request.params().get("month", ""), announced_year(view.now)
    year, number = (int(part) for part in month.split("-")) if re.fullmatch(_MONTH, month) else (0, 0)
    rows = []
    if 1990 < year <= announced + 1 and 1 <= number <= 12:
        closed = closed_days(year) if year <= announced else []
        for day in range(1, monthrange(year, number)[1] + 1):
            one = date(year, number, day)
            is_open = one.weekday() < 5 and one.isoformat() not in closed
            row = {"zrxh": one.isoweekday() % 7 + 1, "jybz": str(int(is_open)), "jyrq": one.isoformat()}
            rows.append(row)
    return json_reply({"data": view.cut(rows), "nowdate": view.now.date().isoformat()})


def _tab(
    key: str, name: str, day: int, data: list[Any], count: int, page: int, catalog: str
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


def _paged(
    params: dict[str, str],
    view: View,
    tab: tuple[str, str],
    day: int,
    found: Sequence[Fact],
    row: Callable[[Fact], dict[str, str]],
) -> Reply:
    """A report of one tab, 20 rows a page; `tab` is its key and its name."""
    page = max(1, int(params.get("PAGENO", "1")))
    data = [row(one) for one in view.cut(found[(page - 1) * PAGE : page * PAGE])]
    return json_reply([_tab(*tab, day, data, len(found), page, params["CATALOGID"])], spaced=True)


def _etf_units(params: dict[str, str], view: View) -> Reply:
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

    return _paged(params, view, ("tab1", "基金列表"), day, units_of(view, day, "SZ"), row)


def _figures(one: Margin) -> dict[str, float]:
    return {
        "jrrzmr": one.rzmre, "jrrzye": one.rzye, "jrrjmc": one.rqmcl, "jrrjyl": one.rqyl,
        "jrrjye": one.rqye, "jrrzrjye": one.rzrqye,
    }  # fmt: skip


def _total(names: Sequence[Margin]) -> dict[str, str]:
    rows = [_figures(one) for one in names]
    return {key: _shown(sum(row[key] for row in rows) / YI) for key in rows[0]}


def _detail(one: Margin) -> dict[str, str]:
    shown = {key: _shown(value / (YI if key in _IN_YI else WAN)) for key, value in _figures(one).items()}
    return {"zqdm": one.security.code, "zqjc": one.name, **shown}


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
