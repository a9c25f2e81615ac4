"""Closing yield curve, SHIBOR and LPR: JSON whose figures are texts. A refused request gets a message and no
record; a client that is not registered gets a page."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from simulated_market import economy
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route

_TENORS = (0.083, 0.25, 0.5, 0.75, *(float(years) for years in range(1, 47)))
_MOST_ROWS = 200
"""A request for as many rows per page is refused."""
_HTML = "<!DOCTYPE html><html><head><title>{}</title></head><body>{}</body></html>"
_TURNED_AWAY = Reply(
    _HTML.format("403", "您的访问过于频繁，请稍后再试").encode(), "text/html; charset=utf-8", 403
)
_CURVES = {"国债": "CYCC000", "政策性金融债(国开)": "CYCC021", "政策性金融债(进出口行)": "CYCC024"}
_KEY = "TThwSjc2NWkzV0VSOVRzOA=="
_SHIBOR = ("ON", "1W", "2W", "1M", "3M", "6M", "9M", "1Y")
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
        cookies = {"Set-Cookie": "visitor=sample; Path=/"}
        page = _HTML.format("中国货币网", "")
        return Reply(page.encode(), "text/html; charset=utf-8", headers=cookies)

    def register(self, request: HttpRequest, view: View) -> Reply:
        """The address may ask from now on."""
        visited = "visitor=" in request.headers.get("cookie", "")
        if not visited or request.form().get("key") != _KEY:
            return _TURNED_AWAY
        self._registered = True
        return _reply("", [], {}, view)

    def session(self, request: HttpRequest, view: View) -> Reply:
        return _reply("", [], {}, view)

    def curves(self, request: HttpRequest, view: View) -> Reply:
        """Names and numbers of the curves."""
        if self._is_stranger(view):
            return _TURNED_AWAY
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
            return _TURNED_AWAY
        days = economy.china_span(view, params, economy.CURVE_OUT, _MONTH)
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
        days = economy.china_span(view, request.params(), economy.SHIBOR_OUT, _YEAR)
        if days is None:
            return _reply("只提供一年历史数据查询及下载", [], {}, view)
        rates = [{tenor: economy.interbank_rate(tenor.lower(), day) for tenor in _SHIBOR} for day in days]
        return _reply("", [_dated(day, rate, 4) for day, rate in zip(days, rates, strict=True)], {}, view)

    def lpr(self, request: HttpRequest, view: View) -> Reply:
        params = request.params()
        try:
            since, until = (date.fromisoformat(params[name]) for name in ("strStartDate", "strEndDate"))
        except (KeyError, ValueError):
            return _reply("日期格式错误", [], {}, view)
        days = [day for day in economy.prime_days(view) if since <= day <= until]
        rates = [dict(zip(("1Y", "5Y"), economy.prime_rates(day), strict=True)) for day in days]
        return _reply("", [_dated(day, rate, 2) for day, rate in zip(days, rates, strict=True)], {}, view)


def _dated(day: date, rates: dict[str, float], digits: int) -> dict[str, Any]:
    shown = {tenor: f"{rate:.{digits}f}" for tenor, rate in rates.items()}
    return {**shown, "showDateCN": str(day), "showDateEN": f"{day:%d/%m/%Y}"}


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
    return json_reply({"head": head, "data": {**data, "message": message}, "records": rows}, spaced=True)
