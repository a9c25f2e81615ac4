"""The CSI provider: workbooks of members, weights and ratios, and the history of one index."""

import math
from collections.abc import Sequence

from simulated_market.days import at as moment
from simulated_market.days import dates_between
from simulated_market.indexers.constituents import index_of, newest_month_end, pe_by_date, shares_at
from simulated_market.indexers.workbook import Cell, sheet_reply
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.dates import number_of
from simulated_market.world.model import PRICE_UNIT, Security

_FILES = r"/static/html/csindex/public/uploads/file/autofile"
_EXCHANGES = {
    "SH": ("上海证券交易所", "Shanghai Stock Exchange"),
    "SZ": ("深圳证券交易所", "Shenzhen Stock Exchange"),
}
_MEMBER_HEAD = [
    "日期Date", "指数代码Index Code", "指数名称Index Name", "指数英文名称Index Name(Eng)",
    "成分券代码Constituent Code", "成分券名称Constituent Name", "成分券英文名称Constituent Name(Eng)",
    "交易所Exchange", "交易所英文名称Exchange(Eng)",
]  # fmt: skip
_RATIO_HEAD = [
    "日期Date", "指数代码Index Code", "指数中文全称Chinese Name(Full)", "指数中文简称Index Chinese Name",
    "指数英文全称English Name(Full)", "指数英文简称Index English Name", "市盈率1（总股本）P/E1",
    "市盈率2（计算用股本）P/E2", "股息率1（总股本）D/P1", "股息率2（计算用股本）D/P2",
]  # fmt: skip
_RATIO_DAYS = 20
_CLOSE = "15:00"
_GONE = Reply(b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "application/xml", 404)


class CsindexResponder:
    upstream = "csindex"

    def __init__(self, books: Books) -> None:
        self._lines = books.lines
        self.routes: Sequence[Route] = (
            route("cons", _FILES + r"/cons/\d{6}cons\.xls", members),
            route("closeweight", _FILES + r"/closeweight/\d{6}closeweight\.xls", weights),
            route("indicator", _FILES + r"/indicator/\d{6}indicator\.xls", self.ratios),
            route("index_perf", r"/csindex-home/perf/index-perf", self.history),
        )

    def ratios(self, request: HttpRequest, view: View) -> Reply:
        """The last twenty trade dates, newest first."""
        index = _asked(request, view)
        if index is None:
            return _GONE
        days = dates_between(view, 0, number_of(view.now), _CLOSE)[-_RATIO_DAYS:]
        name = view.world.name(index, view.now)
        rows: list[list[Cell]] = [list(_RATIO_HEAD)]
        for day in reversed(days):
            then = min(view.now, moment(day, _CLOSE))
            sums = self._lines.totals(view, view.world.index_members(index, then), day)
            figures = [None] * 4 if sums is None else [sums.pe, sums.pe] + [sums.dividend_yield] * 2
            rows.append([day, index.code, f"{name}指数", name, f"{name} Index", name, *figures])
        return sheet_reply(rows, view)

    def history(self, request: HttpRequest, view: View) -> Reply:
        """Bars of a range with the rolling PE, oldest first."""
        params = request.params()
        code = params.get("indexCode", "")
        index = _own(view, code)
        rows = []
        if index is not None:
            bars = view.world.bars(index, view.now)
            requested = (int(params.get("startDate") or 0), int(params.get("endDate") or 0))
            known = set(dates_between(view, *requested, _CLOSE))
            name = view.world.name(index, view.now)
            places = [at for at, day in enumerate(bars.date.tolist()) if day in known]
            prices = {"open": bars.open, "high": bars.high, "low": bars.low, "close": bars.close}
            pe, counts = pe_by_date(view, self._lines, index, bars.date[places])
            for place, at in enumerate(places):
                change = int(bars.close[at]) - int(bars.preclose[at])
                rows.append(
                    {
                        "tradeDate": str(int(bars.date[at])),
                        "indexCode": code,
                        "indexNameCnAll": f"{name}指数",
                        "indexNameCn": name,
                        "indexNameEnAll": f"{name} Index",
                        "indexNameEn": name,
                        **{name: int(column[at]) / PRICE_UNIT for name, column in prices.items()},
                        "change": round(change / PRICE_UNIT, 2),
                        "changePct": round(change / max(int(bars.preclose[at]), 1) * 100, 2),
                        "tradingVol": round(int(bars.volume[at]) / 1e6, 2),
                        "tradingValue": round(float(bars.amount[at]) / 1e8, 2),
                        "consNumber": int(counts[place]),
                        "peg": None if math.isnan(pe[place]) else float(pe[place]),
                    }
                )
        return json_reply({"code": "200", "msg": "Success", "data": rows}, spaced=True)


def members(request: HttpRequest, view: View) -> Reply:
    """Members as of the newest closed session."""
    index = _asked(request, view)
    days = dates_between(view, 0, number_of(view.now), _CLOSE)
    if index is None or not days:
        return _GONE
    return sheet_reply([_MEMBER_HEAD, *(row[:-1] for row in _members(view, index, days[-1]))], view)


def weights(request: HttpRequest, view: View) -> Reply:
    """Weights at the close of the last month."""
    index, day = _asked(request, view), newest_month_end(view)
    if index is None or day is None:
        return _GONE
    return sheet_reply([[*_MEMBER_HEAD, "权重(%)weight"], *_members(view, index, day)], view)


def _members(view: View, index: Security, day: int) -> list[list[Cell]]:
    """The last cell is the weight."""
    name = view.world.name(index, view.now)
    head: list[Cell] = [day, index.code, name, name]
    return [
        [*head, one.security.code, one.name, "", *_EXCHANGES[one.security.market], one.weight_pct]
        for one in shares_at(view, index, day)
    ]


def _asked(request: HttpRequest, view: View) -> Security | None:
    """The index of a file's name."""
    return _own(view, request.path.rsplit("/", 1)[-1][:6])


def _own(view: View, code: str) -> Security | None:
    """An index of this provider; those of Shenzhen are another's."""
    index = index_of(view, code)
    return index if index is not None and index.market == "SH" else None
