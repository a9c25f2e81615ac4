"""The social site: a visit in two steps brings a token, and without it a call is answered with HTTP 400."""

import json
from collections.abc import Sequence
from datetime import datetime

from simulated_market.popularity import ranking
from simulated_market.shared_facts import Books
from simulated_market.wire import Handler, HttpRequest, Reply, Route, Row, View, route, unix
from simulated_market.world.model import PRICE_UNIT, Quote, Security

_COOKIE = "xq_a_token"
_VISITOR = "sample-visitor"
_WEIGHT, _FOLLOWED = 0.8, 2.5
_EXPIRED = {
    "error_description": "遇到错误，请刷新页面或者重新登录帐号后再试",
    "error_data": None,
    "error_code": "400016",
}


def _with_token(handle: Handler) -> Handler:
    """Answers visitors."""

    def answer(request: HttpRequest, view: View) -> Reply:
        if f"{_COOKIE}={_VISITOR}" in request.headers.get("cookie", ""):
            return handle(request, view)
        return _json({**_EXPIRED, "error_uri": request.path}, 400)

    return answer


class XueqiuResponder:
    """`xueqiu.com`, `stock.xueqiu.com`."""

    upstream = "xueqiu"

    def __init__(self, books: Books) -> None:
        self._book = books.limits
        self.routes: Sequence[Route] = (
            route("visit", r"/(?:hq)?", self.visit),
            route("quote", r"/v5/stock/quote\.json", _with_token(self.quote)),
            route("follow", r"/service/v5/stock/screener/screen", _with_token(self.follow)),
            route("hot_list", r"/v5/stock/hot_stock/list\.json", _with_token(self.hot_list)),
        )

    def visit(self, request: HttpRequest, view: View) -> Reply:
        """The first page brings the cookies of the wall; a page that is asked with them, the token."""
        known = "acw_tc=" in request.headers.get("cookie", "")
        cookie = f"{_COOKIE}={_VISITOR}" if known and request.path == "/hq" else "acw_tc=sample"
        page = "<!DOCTYPE html><html><head><title>雪球</title></head><body></body></html>"
        return Reply(page.encode(), "text/html; charset=utf-8", headers={"Set-Cookie": f"{cookie}; Path=/"})

    def quote(self, request: HttpRequest, view: View) -> Reply:
        """One instrument; `quote` null for an unknown one."""
        symbol = request.params().get("symbol", "")
        found = view.quoted(symbol.lower()) if symbol.isupper() else None
        if found is None:
            return _answer({"market": None, "quote": None})
        status = "已收盘" if view.now.hour >= 15 else "交易中"
        market = {"status_id": 7, "region": "CN", "status": status}
        return _answer({"market": market, "quote": quote_row(view, *found)})

    def follow(self, request: HttpRequest, view: View) -> Reply:
        """Stocks by their followers; of the world, by their popularity."""
        size = max(1, min(200, int(request.params().get("size", "30"))))
        found = sorted(ranking(self._book, view, _FOLLOWED), key=lambda one: -one.heat)
        rows = [
            {
                "symbol": one.state.security.symbol.upper(),
                "name": one.state.name,
                "current": one.state.quote.price / PRICE_UNIT,
                "pct": round(one.state.change_pct, 2),
                "follow": int(one.heat * 10),
                "type": 11,
            }
            for one in view.cut(found)[:size]
        ]
        return _answer({"count": len(found), "list": rows})

    def hot_list(self, request: HttpRequest, view: View) -> Reply:
        """The hottest stocks of the newest session."""
        size = max(1, min(100, int(request.params().get("size", "10"))))
        found = view.cut(ranking(self._book, view, _WEIGHT)[:size])
        items = [
            {
                "code": one.state.security.symbol.upper(),
                "name": one.state.name,
                "value": one.heat,
                "increment": one.rose * 10,
                "percent": round(one.state.change_pct, 2),
                "current": one.state.quote.price / PRICE_UNIT,
                "rank_change": one.rose,
                "exchange": one.state.security.market,
                "ad": 0,
            }
            for one in found
        ]
        return _answer({"items": items, "items_size": len(items)})


def quote_row(view: View, security: Security, quote: Quote) -> Row:
    """Prices CNY, volume shares, caps CNY, percentages percent, times in milliseconds."""
    held = None if security.kind == "index" else view.world.valuation(security, view.now)
    traded = not quote.suspended and quote.volume > 0
    change = quote.price - quote.preclose
    day = datetime.strptime(str(security.list_date), "%Y%m%d")
    stamp = unix(quote.time) * 1000
    return {
        "symbol": security.symbol.upper(),
        "code": security.code,
        "exchange": security.market,
        "name": quote.name,
        "type": 11,
        "sub_type": "ASH",
        "status": 2 if quote.suspended else 1,
        "current": quote.price / PRICE_UNIT,
        "currency": "CNY",
        "percent": round(change / quote.preclose * 100, 2) if quote.preclose else None,
        "chg": round(change / PRICE_UNIT, 3),
        "timestamp": stamp,
        "time": stamp,
        "lot_size": 100,
        "tick_size": 0.01,
        "open": quote.open / PRICE_UNIT if traded else None,
        "last_close": quote.preclose / PRICE_UNIT,
        "high": quote.high / PRICE_UNIT if traded else None,
        "low": quote.low / PRICE_UNIT if traded else None,
        "avg_price": round(quote.amount / quote.volume, 3) if traded else None,
        "volume": quote.volume // view.lot(security.board, 1),
        "amount": quote.amount,
        "turnover_rate": quote.turnover_pct,
        "amplitude": round((quote.high - quote.low) / quote.preclose * 100, 2)
        if traded and quote.preclose
        else None,
        "market_capital": held and held.total_market_cap,
        "float_market_capital": held and held.float_market_cap,
        "total_shares": held and held.total_shares,
        "float_shares": held and held.float_shares,
        "issue_date": unix(day) * 1000,
        "limit_up": None if quote.limit_up is None else quote.limit_up / PRICE_UNIT,
        "limit_down": None if quote.limit_down is None else quote.limit_down / PRICE_UNIT,
        "volume_ratio": quote.volume_ratio,
        "pe_ttm": held and _three(held.pe_ttm),
        "pe_forecast": held and _three(held.pe_dynamic),
        "pe_lyr": held and _three(held.pe_static),
        "pb": held and _three(held.pb),
        "dividend_yield": held and _three(held.dividend_yield),
    }


def _three(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _answer(data: Row) -> Reply:
    return _json({"data": data, "error_code": 0, "error_description": ""})


def _json(document: Row, status: int = 200) -> Reply:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Reply(text.encode(), "application/json;charset=UTF-8", status)
