"""www.bse.cn: margin trading, JSONP of pages. The names of the fields are assumed, not recorded."""

import json
from collections.abc import Sequence
from typing import Any

from resources.simulated_market.books import Books
from resources.simulated_market.exchanges.days import day_of, iso_of
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, route

PAGE = 20
_SUMS = ("rzye", "rzmre", "rzche", "rqyl", "rqmcl", "rqchl", "rqye", "rzrqye")


class BseResponder:
    upstream = "bse"

    def __init__(self, books: Books) -> None:
        self._book = books.margin
        self.routes: Sequence[Route] = (
            route("margin_total", r"/rzrqjyyexxController/summaryInfoResult\.do", self.total),
            route("margin_detail", r"/rzrqjyyexxController/detailInfoResult\.do", self.detail),
        )

    def total(self, request: HttpRequest, view: View) -> Reply:
        """The market's sums of a date."""
        rows = self._rows(view, request.params().get("transDate", ""))
        if not rows:
            return _reply(request, view, [], 0)
        sums = {name: round(sum(row[name] for row in rows), 2) for name in _SUMS}
        return _reply(request, view, [{"jyrq": rows[0]["jyrq"], **sums}], 0)

    def detail(self, request: HttpRequest, view: View) -> Reply:
        """The securities of a date, 20 a page; pages count from 0."""
        form = request.form()
        page = int(form.get("page", "0")) if form.get("page", "0").isdigit() else 0
        return _reply(request, view, self._rows(view, form.get("transDate", "")), page)

    def _rows(self, view: View, date: str) -> list[dict[str, Any]]:
        return [
            {
                "jyrq": iso_of(one.date),
                "zqdm": one.security.code,
                "zqjc": one.name,
                "rzye": one.rzye,
                "rzmre": one.rzmre,
                "rzche": one.rzche,
                "rqyl": one.rqyl,
                "rqmcl": one.rqmcl,
                "rqchl": one.rqchl,
                "rqye": one.rqye,
                "rzrqye": one.rzrqye,
            }
            for one in self._book.of_date(view, day_of(date), "BJ")
        ]


def _reply(request: HttpRequest, view: View, rows: list[dict[str, Any]], page: int) -> Reply:
    total = len(rows)
    if view.fault is not None and view.fault.kind == "cut_list":
        rows = rows[: int(view.fault.args.get("rows", 100))]
    content = rows[page * PAGE : (page + 1) * PAGE]
    document = [
        {
            "content": content,
            "number": page,
            "size": PAGE,
            "totalElements": total,
            "totalPages": -(-total // PAGE),
        }
    ]
    callback = request.params().get("callback", "null")
    return Reply(f"{callback}({json.dumps(document, ensure_ascii=False)})".encode())
