"""www.swsresearch.com: the industry indices and the classification. Bare NaN where a figure is missing."""

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from simulated_market.days import dates_between
from simulated_market.indexers.workbook import sheet_reply
from simulated_market.industries import ALL, IndustryBook, Series, members, published
from simulated_market.notices import page_of
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.dates import date_of, day_of, iso_of

_LEVELS = {"一级行业": "l1", "二级行业": "l2", "三级行业": "l3"}
_YI = 1e8
_REPORT_HOUR = "15:30"
_MOST_ROWS = 200


class SwResponder:
    upstream = "sw"

    def __init__(self, books: Books) -> None:
        self._book = IndustryBook(books.lines)
        root = r"/institute-sw/api"
        self.routes: Sequence[Route] = (
            route("current", root + r"/index_publish/current/", self.current),
            route("index_report", root + r"/index_analysis/index_analysis_report/", self.report),
            route("trend", root + r"/index_publish/trend/", self.trend),
            route("classes", r"/swindex/pdf/SwClass2021/SwClassCode_2021\.xls", classes),
            route("class_stocks", r"/swindex/pdf/SwClass2021/StockClassifyUse_stock\.xls", stocks),
        )

    def current(self, request: HttpRequest, view: View) -> Reply:
        """The current values of the indices of a level; no date."""
        params = request.params()
        series = self._book.series(view)
        rows = []
        for one in published(view, _LEVELS.get(params.get("indextype", ""), "")):
            line = series[one.index]
            before = float(line.close[-2]) if len(line.close) > 1 else 1000.0
            rows.append(
                {
                    "l1": one.index,
                    "l2": one.name,
                    "l3": round(before, 2),
                    "l4": round(float(line.open[-1]), 2),
                    "l5": round(float(line.amount[-1]) / _YI, 8),
                    "l6": round(float(line.high[-1]), 2),
                    "l7": round(float(line.low[-1]), 2),
                    "l8": round(float(line.close[-1]), 2),
                    "l11": round(float(line.volume[-1]) / _YI, 8),
                }
            )
        return _paged(rows, params, view)

    def report(self, request: HttpRequest, view: View) -> Reply:
        """The daily analysis of a range; that of a date is out at 15:30."""
        params = request.params()
        since, until = (day_of(params.get(name, "")) for name in ("start_date", "end_date"))
        level = _LEVELS.get(params.get("index_type", ""), "")
        series = self._book.series(view)
        rows = []
        for day in reversed(dates_between(view, since, until, _REPORT_HOUR)):
            totals = self._book.totals(view, day)
            whole = sum(_at(series[one.index], day, "amount") for one in published(view, "l1")) or 1.0
            for one in published(view, level):
                sums = totals.get(one.index)
                if sums is None:
                    continue
                line = series[one.index]
                rows.append(
                    {
                        "swindexcode": one.index,
                        "swindexname": one.name,
                        "bargaindate": iso_of(day),
                        "closeindex": round(_at(line, day, "close"), 2),
                        "bargainamount": round(_at(line, day, "volume") / _YI, 8),
                        "markup": round(_change(line, day), 2),
                        "turnoverrate": round(sums.volume / sums.float_shares * 100, 4),
                        "pe": math.nan if sums.pe is None else sums.pe,
                        "pb": math.nan if sums.pb is None else sums.pb,
                        "meanprice": round(sum(sums.prices) / len(sums.prices), 2),
                        "bargainsumrate": round(_at(line, day, "amount") / whole * 100, 2),
                        "negotiablessharesum1": round(sums.float_cap / _YI, 2),
                        "negotiablessharesum2": round(sums.float_cap / _YI * 0.6, 2),
                        "dp": math.nan if sums.dividend_yield is None else sums.dividend_yield,
                    }
                )
        return _paged(rows, params, view)

    def trend(self, request: HttpRequest, view: View) -> Reply:
        """The whole past of one index; some numbers are texts."""
        code = request.params().get("swindexcode", "")
        line = self._book.series(view).get(code)
        rows: list[dict[str, Any]] = []
        if line is None:
            return _answer(rows)
        for at, day in enumerate(line.date.tolist()):
            close = round(float(line.close[at]), 2)
            rows.append(
                {
                    "swindexcode": code,
                    "bargaindate": iso_of(day),
                    "openindex": round(float(line.open[at]), 2),
                    "maxindex": round(float(line.high[at]), 2),
                    "minindex": round(float(line.low[at]), 2),
                    "closeindex": str(close) if at % 3 else close,
                    "hike": math.nan,
                    "markup": round(_change(line, day), 2),
                    "bargainamount": round(float(line.volume[at]) / _YI, 8),
                    "bargainsum": round(float(line.amount[at]) / _YI, 8),
                }
            )
        return _answer(rows)


def classes(request: HttpRequest, view: View) -> Reply:
    """Every class on a row of its own, upper levels without the names below them."""
    rows: list[list[str]] = [["行业代码", "一级行业名称", "二级行业名称", "三级行业名称"]]
    for one in ALL:
        third = one.name if one.level == "l3" else ""
        rows.append([one.class_code, one.l1_name, one.l2_name, third])
    return sheet_reply(rows, view)


def stocks(request: HttpRequest, view: View) -> Reply:
    """Every class that a stock was ever put in; half of them were elsewhere in their first year."""
    thirds = {one.index: one.class_code for one in ALL if one.level == "l3"}
    codes, updated = tuple(thirds.values()), date(2021, 7, 31)
    rows: list[list[str | date]] = [["股票代码", "计入日期", "行业代码", "更新日期"]]
    for index, some in sorted(members(view).items()):
        for security in some if index in thirds else ():
            listed = date_of(security.list_date)
            moved = listed.replace(year=listed.year + 1, day=min(listed.day, 28))
            if int(security.code) % 2 and moved < view.now.date():
                rows.append([security.code, listed, codes[int(security.code) % len(codes)], updated])
                listed = moved
            rows.append([security.code, listed, thirds[index], updated])
    return sheet_reply(rows, view)


def _paged(rows: list[dict[str, Any]], params: dict[str, str], view: View) -> Reply:
    size, page = min(_MOST_ROWS, page_of(params.get("page_size", "50"))), page_of(params.get("page", "1"))
    following, shown = "next" if page * size < len(rows) else None, view.page(rows, size, page)
    return _answer({"count": len(rows), "next": following, "previous": None, "results": shown})


def _answer(data: Any) -> Reply:
    # Bare NaN, as json writes it, is what the site sends.
    return json_reply({"code": "200", "message": "ok", "data": data}, spaced=True)


def _at(line: Series, day: int, name: str) -> float:
    at = int(line.date.searchsorted(day))
    return float(getattr(line, name)[at]) if at < len(line.date) and int(line.date[at]) == day else 0.0


def _change(line: Series, day: int) -> float:
    at = int(line.date.searchsorted(day))
    before = float(line.close[at - 1]) if at else 1000.0
    return (float(line.close[at]) / before - 1) * 100
