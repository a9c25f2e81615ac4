"""Closing yield curve, SHIBOR and LPR: JSON whose figures are texts. A refused request gets a message and no
record; a client that is not registered gets a page."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from resources.simulated_market import economy
from resources.simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route

_TENORS = (0.083, 0.25, 0.5, 0.75, *(float(years) for years in range(1, 47)))
_MOST_ROWS = 200
"""A request for as many rows per page is refused."""
_TURNED_AWAY = (
    "<!DOCTYPE html><html><head><title>403</title></head><body>您的访问过于频繁，请稍后再试</body></html>"
)
_CURVES = {"国债": "CYCC000", "政策性金融债(国开)": "CYCC021", "政策性金融债(进出口行)": "CYCC024"}
_KEY = "TThwSjc2NWkzV0VSOVRzOA=="
_SHIBOR = {"ON": "on", "1W": "1w", "2W": "2w", "1M": "1m", "3M": "3m", "6M": "6m", "9M": "9m", "1Y": "1y"}
_MONTH, _YEAR = timedelta(days=30), timedelta(days=366)


class ChinamoneyResponder:
    upstream = "chinamoney"

    def __init__(self) -> None:
        self._registered = False
        self.routes: Sequence[Route] = (
            route("visit", r"/chinese/bkcurvclosedyhis/", self.visit),
            route("register", r"/dqs/rest/cm-u-rbt/apply", self.register),
            route("register", r"/lss/rest/cm-s-account/getSessionUser", self.session),
            route("curves", r"/ags/ms/cm-u-bk-currency/ClsYldCurvCurvGO", self.curves),
            route("curve", r"/ags/ms/cm-u-bk-currency/ClsYldCurvHis", self.curve),
            route("shibor", r"/ags/ms/cm-u-bk-shibor/ShiborHis", self.shibor),
            route("lpr", r"/ags/ms/cm-u-bk-currency/LprHis", self.lpr),
        )

    def visit(self, request: HttpRequest, view: View) -> Reply:
        """The page of the curve: it brings the cookies with which a visitor registers."""
        page = "<!DOCTYPE html><html><head><title>中国货币网</title></head><body></body></html>"
        cookies = {"Set-Cookie": "visitor=sample; Path=/"}
        return Reply(page.encode(), "text/html; charset=utf-8", headers=cookies)

    def register(self, request: HttpRequest, view: View) -> Reply:
        """The address may ask from now on."""
        visited = "visitor=" in request.headers.get("cookie", "")
        if not visited or request.form().get("key") != _KEY:
            return _turned_away()
        self._registered = True
        return _reply("", [], {}, view)

    def session(self, request: HttpRequest, view: View) -> Reply:
        return _reply("", [], {}, view)

    def curves(self, request: HttpRequest, view: View) -> Reply:
        """Names and numbers of the curves."""
        if self._is_stranger(view):
            return _turned_away()
        rows = [{"value": number, "cnLabel": name, "enLabel": ""} for name, number in _CURVES.items()]
        return _reply("", rows, {"selectedBondType": "CYCC000"}, view)

    def _is_stranger(self, view: View) -> bool:
        """Whether a fault makes the site require registration and this client has not registered."""
        if view.fault is None or view.fault.kind != "unregistered":
            self._registered = False
            return False
        return not self._registered

    def curve(self, request: HttpRequest, view: View) -> Reply:
        """Fifty maturities of each date, newest date first; no more than a month."""
        params = request.params()
        if self._is_stranger(view) or int(params.get("pageSize", "15")) >= _MOST_ROWS:
            return _turned_away()
        days = _days(params, "startDate", "endDate", view, economy.CURVE_OUT, _MONTH)
        if days is None:
            return _reply("只提供一个月历史数据查询", [], {"total": 0, "pageTotal": 0}, view)
        known = params.get("bondType") == "CYCC000" and "reference" in params and "termId" in params
        rows = [_curve_row(day, years) for day in days for years in _TENORS] if known else []
        total = len(rows)
        size, page = max(1, int(params.get("pageSize", "15"))), max(1, int(params.get("pageNum", "1")))
        counts = {"total": total, "pageTotal": -(-total // size), "pageNum": page, "pageSize": size}
        return _reply("", view.page(rows, size, page), counts, view)

    def shibor(self, request: HttpRequest, view: View) -> Reply:
        """Every tenor of each date, newest first; no more than a year."""
        days = _days(request.params(), "startDate", "endDate", view, economy.SHIBOR_OUT, _YEAR)
        if days is None:
            return _reply("只提供一年历史数据查询及下载", [], {}, view)
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


def _curve_row(day: date, years: float) -> dict[str, Any]:
    rate = economy.government_yield("cn", years, day)
    return {
        "newDateValue": None,
        "newDateValueCN": str(day),
        "yearTermStr": f"{years:g}" if years < 1 else f"{years:.1f}",
        "maturityYieldStr": f"{rate:.4f}",
        "currentYieldStr": f"{rate + 0.01:.4f}",
        "futureYieldStr": "---",
    }


def _turned_away() -> Reply:
    return Reply(_TURNED_AWAY.encode(), "text/html; charset=utf-8", 403)


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
        "rep_code": "200",
        "rep_message": "",
        "ts": int(view.now.timestamp() * 1000),
        "producer": "",
    }
    document = {"head": head, "data": {**data, "message": message}, "records": rows}
    return json_reply(document, spaced=True)
