"""www.bse.cn: margin trading, a list and its date in a callback, the date in single quotes."""

import json
from collections.abc import Sequence
from typing import Any

from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, route
from simulated_market.world.dates import day_of

PAGE = 20
_SUMS = ("rzye", "rzmre", "rqyl", "rqmcl", "rqye", "rzrqye")
_FIGURES = ("rzmre", "rzye", "rqmcl", "rqyl", "rqye", "rzrqye")
_WAN = 10_000


class BseResponder:
    upstream = "bse"

    def __init__(self, books: Books) -> None:
        self._book = books.margin
        self.routes: Sequence[Route] = (
            route("margin_total", r"/rzrqjyyexxController/summaryInfoResult\.do", self.total),
            route("margin_detail", r"/rzrqjyyexxController/detailInfoResult\.do", self.detail),
        )

    def total(self, request: HttpRequest, view: View) -> Reply:
        """The market's sums of a date in 10,000 CNY and 10,000 shares, rounded."""
        date = request.params().get("transDate", "")
        rows = self._rows(view, date)
        sums = {f"{name}Round": round(sum(row[name] for row in rows) / _WAN, 2) for name in _SUMS}
        return _reply(request, [sums] if rows else [], date)

    def detail(self, request: HttpRequest, view: View) -> Reply:
        """The securities of a date, 20 a page; pages count from 0."""
        form = request.form()
        page = int(asked) if (asked := form.get("page", "0")).isdigit() else 0
        date = form.get("transDate", "")
        rows = self._rows(view, date)
        total = len(rows)
        document = {
            "content": view.page(rows, PAGE, page + 1),
            "number": page,
            "size": PAGE,
            "totalElements": total,
            "totalPages": -(-total // PAGE),
        }
        return _reply(request, [document], date)

    def _rows(self, view: View, date: str) -> list[dict[str, Any]]:
        return [
            {
                "zqdm": one.security.code,
                "zqjc": one.name,
                **{key: round(getattr(one, key)) for key in _FIGURES},
            }
            for one in self._book.of_date(view, day_of(date), "BJ")
        ]


def _reply(request: HttpRequest, answer: list[dict[str, Any]], date: str) -> Reply:
    callback = request.params().get("callback", "null")
    return Reply(f"{callback}([{json.dumps(answer, ensure_ascii=False)}, '{date}'])".encode())
