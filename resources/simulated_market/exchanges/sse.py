"""query.sse.com.cn: margin trading. A request without the Referer of the exchange's pages is refused."""

import json
from collections.abc import Sequence
from typing import Any

from resources.simulated_market.exchanges.days import day_of
from resources.simulated_market.margin import MarginBook
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, route

_REFERER = "https://www.sse.com.cn/"


class SseResponder:
    upstream = "sse"

    def __init__(self) -> None:
        self._book = MarginBook()
        self.routes: Sequence[Route] = (
            route("margin", r"/marketdata/tradedata/queryMargin\.do", self.margin),
        )

    def margin(self, request: HttpRequest, view: View) -> Reply:
        """`tabType=mxtype` the securities of a date, else the market's sums of a range. CNY and shares; the
        detail has null lending amounts."""
        if not request.headers.get("referer", "").startswith(_REFERER):
            return Reply(b"<html><body>403 Forbidden</body></html>", "text/html", 403)
        params = request.params()
        if params.get("tabType") == "mxtype":
            rows = self._detail(view, params.get("detailsDate", ""))
        else:
            rows = self._totals(view, params.get("beginDate", ""), params.get("endDate", ""))
        total = len(rows)
        if view.fault is not None and view.fault.kind == "cut_list":
            rows = rows[: int(view.fault.args.get("rows", 100))]
        size = max(1, int(params.get("pageHelp.pageSize", "25")))
        page = max(1, int(params.get("pageHelp.pageNo", "1")))
        shown = [row for row in rows[(page - 1) * size : page * size] for _ in range(view.copies)]
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
        text = json.dumps(document, ensure_ascii=False)
        callback = params.get("jsonCallBack")
        return Reply(f"{callback}({text})".encode() if callback else text.encode())

    def _detail(self, view: View, date: str) -> list[dict[str, Any]]:
        return [
            {
                "opDate": str(one.date),
                "stockCode": one.security.code,
                "securityAbbr": one.name,
                "rzye": one.rzye,
                "rzmre": one.rzmre,
                "rzche": one.rzche,
                "rqyl": one.rqyl,
                "rqmcl": one.rqmcl,
                "rqchl": one.rqchl,
                "rqylje": None,
                "rzrqjyzl": None,
            }
            for one in self._book.of_date(view, day_of(date), "SH")
        ]

    def _totals(self, view: View, since: str, until: str) -> list[dict[str, Any]]:
        first, last = day_of(since), day_of(until)
        rows = []
        for day in reversed([int(one) for one in view.world.trade_dates() if first <= one <= last]):
            names = self._book.of_date(view, day, "SH")
            if not names:
                continue
            financed, lent = sum(one.rzye for one in names), round(sum(one.rqye for one in names))
            rows.append(
                {
                    "opDate": str(day),
                    "rzye": financed,
                    "rzmre": sum(one.rzmre for one in names),
                    "rzche": sum(one.rzche for one in names),
                    "rqyl": sum(one.rqyl for one in names),
                    "rqmcl": sum(one.rqmcl for one in names),
                    "rqylje": lent,
                    "rzrqjyzl": financed + lent,
                }
            )
        return rows
