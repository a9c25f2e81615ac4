"""www.szse.cn: margin trading as JSON tabs and as a workbook (ShowReport 1837_xxpl); notices."""

import json
from collections.abc import Sequence
from typing import Any

from resources.simulated_market.exchanges.days import day_of, iso_of
from resources.simulated_market.exchanges.sheet import MEDIA_TYPE, workbook
from resources.simulated_market.exchanges.szse_notices import NoticeList
from resources.simulated_market.margin import Margin, MarginBook
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, route

PAGE = 20
YI, WAN = 1e8, 1e4
_HEADS = (
    "证券代码", "证券简称", "融资买入额(元)", "融资余额(元)", "融券卖出量(股/份)", "融券余量(股/份)",
    "融券余额(元)", "融资融券余额(元)",
)  # fmt: skip


class SzseResponder:
    upstream = "szse"

    def __init__(self) -> None:
        self._book = MarginBook()
        self.routes: Sequence[Route] = (
            route("margin_tabs", r"/api/report/ShowReport/data", self.tabs),
            route("margin_sheet", r"/api/report/ShowReport", self.sheet),
            route("notices", r"/api/disc/announcement/annList", NoticeList().notices),
        )

    def tabs(self, request: HttpRequest, view: View) -> Reply:
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
        detail = [_detail(one) for one in shown for _ in range(view.copies)]
        document = [
            _tab("tab1", "融资融券交易总量", day, market, len(market), 1),
            _tab("tab2", "融资融券交易明细", day, detail, len(names), page),
        ]
        return Reply(json.dumps(document, ensure_ascii=False).encode())

    def sheet(self, request: HttpRequest, view: View) -> Reply:
        """All securities of a date in 元 and 股."""
        names = self._names(view, request.params()) or []
        if view.fault is not None and view.fault.kind == "cut_list":
            names = names[: int(view.fault.args.get("rows", 100))]
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
            for _ in range(view.copies)
        ]
        return Reply(workbook([_HEADS, *rows]), MEDIA_TYPE)

    def _names(self, view: View, params: dict[str, str]) -> list[Margin] | None:
        if params.get("CATALOGID") != "1837_xxpl":
            return None
        return self._book.of_date(view, day_of(params.get("txtDate", "")), "SZ")


def _tab(key: str, name: str, day: int, data: list[Any], count: int, page: int) -> dict[str, Any]:
    return {
        "metadata": {
            "catalogid": "1837_xxpl",
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


def _shown(value: float) -> str:
    return f"{value:,.2f}"
