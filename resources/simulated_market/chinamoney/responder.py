"""Closing yield curve, SHIBOR and LPR: JSON whose figures are texts."""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from resources.simulated_market import economy
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, route

_LONGEST = 50
_SHIBOR = {"ON": "on", "1W": "1w", "2W": "2w", "1M": "1m", "3M": "3m", "6M": "6m", "9M": "9m", "1Y": "1y"}
_MONTH, _YEAR = timedelta(days=31), timedelta(days=366)


class ChinamoneyResponder:
    upstream = "chinamoney"

    def __init__(self) -> None:
        self.routes: Sequence[Route] = (
            route("curve", r"/ags/ms/cm-u-bk-currency/ClsYldCurvHis", self.curve),
            route("shibor", r"/ags/ms/cm-u-bk-shibor/ShiborHis", self.shibor),
            route("lpr", r"/ags/ms/cm-u-bk-currency/LprHis", self.lpr),
        )

    def curve(self, request: HttpRequest, view: View) -> Reply:
        """Fifty maturities of each date, 50 a page; no more than a month."""
        params = request.params()
        days = _days(params, "startDate", "endDate", view, economy.CURVE_OUT, _MONTH)
        if days is None:
            return _reply("查询时间跨度不能超过一个月", [], {}, view)
        rows = [
            {
                "newDateValueCN": str(day),
                "newDateValueEN": f"{day:%d/%m/%Y}",
                "yearTermStr": f"{years:.1f}",
                "maturityYieldStr": f"{economy.government_yield('cn', years, day):.4f}",
                "currentYieldStr": f"{economy.government_yield('cn', years, day) + 0.01:.4f}",
                "futureYieldStr": "---",
            }
            for day in days
            for years in range(1, _LONGEST + 1)
        ]
        total = len(rows)
        if view.fault is not None and view.fault.kind == "cut_list":
            rows = rows[: int(view.fault.args.get("rows", 100))]
        size, page = max(1, int(params.get("pageSize", "15"))), max(1, int(params.get("pageNum", "1")))
        return _reply("", rows[(page - 1) * size : page * size], {"totalCount": total, "pageNum": page}, view)

    def shibor(self, request: HttpRequest, view: View) -> Reply:
        """Every tenor of each date, newest first; no more than a year."""
        days = _days(request.params(), "startDate", "endDate", view, economy.SHIBOR_OUT, _YEAR)
        if days is None:
            return _reply("查询时间跨度不能超过一年", [], {}, view)
        rows = [
            {
                **{wire: f"{economy.interbank_rate(tenor, day):.4f}" for wire, tenor in _SHIBOR.items()},
                "showDateCN": str(day),
                "showDateEN": f"{day:%d/%m/%Y}",
            }
            for day in days
        ]
        return _reply("", rows, {}, view)

    def lpr(self, request: HttpRequest, view: View) -> Reply:
        params = request.params()
        try:
            since, until = (date.fromisoformat(params[name]) for name in ("strStartDate", "strEndDate"))
        except (KeyError, ValueError):
            return _reply("日期格式错误", [], {}, view)
        rows = []
        for day in economy.prime_days(view):
            one, five = economy.prime_rates(day)
            if since <= day <= until:
                rows.append(
                    {"1Y": f"{one:.2f}", "5Y": f"{five:.2f}", "showDateCN": str(day),
                     "showDateEN": f"{day:%d/%m/%Y}"}
                )  # fmt: skip
        return _reply("", rows, {}, view)


def _days(
    params: dict[str, str], first: str, last: str, view: View, hour: str, most: timedelta
) -> list[date] | None:
    """Dates that are out, newest first; None for a span that is too long or no span."""
    try:
        since, until = date.fromisoformat(params.get(first, "")), date.fromisoformat(params.get(last, ""))
    except ValueError:
        return None
    return economy.china_dates(view, since, until, hour) if until - since <= most else None


def _reply(message: str, rows: list[dict[str, Any]], data: dict[str, Any], view: View) -> Reply:
    head = {
        "version": "2.0",
        "provider": "CWAP",
        "req_code": "",
        "rep_code": "400" if message else "200",
        "rep_message": message,
        "ts": int(view.now.timestamp() * 1000),
        "producer": "",
    }
    document = {"head": head, "data": {**data, "message": message}, "records": rows}
    return Reply(json.dumps(document, ensure_ascii=False).encode())
