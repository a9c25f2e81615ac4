"""The quote site: routes, parameters and JSON shapes. Records are in `record`, bars in `series`."""

import math
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import unquote

from simulated_market import series
from simulated_market.memo import FactMemo
from simulated_market.series import Bar
from simulated_market.tencent.flow import fund_flow
from simulated_market.tencent.ranking import rank, ticks
from simulated_market.tencent.record import Past, lot_of, past_of, record, short
from simulated_market.wire import HttpRequest, Reply, Route, View, json_reply, route
from simulated_market.world.model import PRICE_UNIT, Security

_MOST_CODES = 800
_MOST_BARS = 2000
_MOST_MINUTE_BARS = 1000
_REMEMBERED = 20_000
_GBK = "text/html; charset=GBK"
_NONE_MATCH = b'v_pv_none_match="1";\n'
_ADJUSTED = ("qfq", "hfq")


class TencentResponder:
    """`qt.gtimg.cn`, `proxy.finance.qq.com`, `ifzq.gtimg.cn`, `web.ifzq.gtimg.cn`, `stock.gtimg.cn`."""

    upstream = "tencent"

    def __init__(self) -> None:
        self._past: FactMemo[Past] = FactMemo(_REMEMBERED)
        bars = r"(?:/ifzqgtimg)?/appstock/app/"
        self.routes: Sequence[Route] = (
            route("quote", r"(?:/utf8)?/(?:q=.*|\?q=.*)?", self.quotes),
            route("bars", bars + r"newfqkline/get", partial(self._bars, long=True)),
            route("bars_short", bars + r"(?:fqkline/get|kline/kline)", partial(self._bars, long=False)),
            route("minute_bars", bars + r"kline/mkline", self.minute_bars),
            route("intraday", bars + r"minute/query", self.intraday),
            route("five_day", bars + r"day/query", self.five_day),
            route("fund_flow", r"/cgi/cgi-bin/fundflow/hsfundtab", fund_flow),
            route("rank", r"/cgi/cgi-bin/rank/hs/getBoardRankList", rank),
            route("ticks", r"/data/index\.php", ticks),
        )

    # --- snapshots

    def quotes(self, request: HttpRequest, view: View) -> Reply:
        names = unquote(request.path.partition("q=")[2] or request.params().get("q", ""))
        requested = [name for name in names.split(",") if name]
        if len(requested) > _MOST_CODES:
            return Reply(b"Request-URI Too Large", "text/html", 414)
        records = {name: self._fields(view, name) for name in requested}
        lines = [f'v_{name}="{"~".join(records[name])}";\n' for name in requested if records[name]]
        utf8 = request.path.startswith("/utf8")
        body = "".join(lines).encode("utf-8" if utf8 else "gb18030") or _NONE_MATCH
        return Reply(body, "text/html; charset=UTF-8" if utf8 else _GBK)

    def _fields(self, view: View, name: str) -> list[str]:
        """The record of a symbol or of `s_` + symbol; [] when it is unknown."""
        found = view.quoted(name.removeprefix("s_"))
        if found is None:
            return []
        security, quote = found
        if name.startswith("s_"):
            return short(view, security, quote)
        if view.fault is not None and view.fault.kind == "wrong_instrument":
            security = quote.security  # all fields are its own, and only the label is the requested one's
        key = (quote.security.symbol, quote.date)
        past = self._past.of(view, key, lambda: past_of(view, quote.security, quote.date))
        return record(view, security, quote, past)

    # --- bars

    def _bars(self, request: HttpRequest, view: View, *, long: bool) -> Reply:
        symbol, period, start, end, count, adjust = _words(request, 6)
        if period not in {"day", "week", "month"} or (count and not count.isdigit()):
            return _wrong(request)
        security = view.world.find(symbol)
        if security is None:
            return _found(request, {})
        adjust = adjust if adjust in _ADJUSTED else ""
        bars = series.daily(view.world, security, view.now, adjust)
        if period != "day":
            bars = series.periods(bars, period)
        most = min(int(count or 320), _MOST_BARS)
        bars = [bar for bar in bars if (not start or bar.iso >= start) and (not end or bar.iso <= end)]
        bars = bars[-most:]
        prefix = adjust if adjust and series.has_events(view.world, security, view.now) else ""
        lot = lot_of(security, view)
        entry = {
            f"{prefix}{period}": [_bar(bar, security, lot, long=long) for bar in bars],
            "qt": {symbol: self._fields(view, symbol)},
            "mx_price": {"mx": [], "price": []},
            "prec": _px(bars[0].previous if bars else 0, security),
            "fsStartDate": "20201009",
            "version": "16",
        }
        if view.fault is not None and view.fault.kind == "no_series":
            entry = {"qt": entry["qt"]}
        return _found(request, {symbol: entry})

    def minute_bars(self, request: HttpRequest, view: View) -> Reply:
        symbol, period, _, count = _words(request, 4)
        security = view.world.find(symbol)
        step = {"m1": 1, "m5": 5, "m15": 15, "m30": 30, "m60": 60}.get(period)
        if step is None or (count and not count.isdigit()):
            return _wrong(request)
        if security is None:
            return _found(request, {symbol: {"qt": {symbol: [], "market": [_market(view.now)]}}})
        most = min(int(count or 320), _MOST_MINUTE_BARS)
        bars = series.minute_bars(view.world, security, view.now, step, most)
        lot = lot_of(security, view)
        _, float_shares = view.world.shares(security, view.now)
        entry: dict[str, Any] = {
            "qt": {symbol: self._fields(view, symbol), "market": [_market(view.now)]},
            period: [_minute_bar(bar, security, lot, float_shares) for bar in bars],
            "prec": _px(bars[0].previous if bars else 0, security),
        }
        return _found(request, {symbol: entry})

    # --- lines

    def intraday(self, request: HttpRequest, view: View) -> Reply:
        symbol = request.params().get("code", "")
        security = view.world.find(symbol)
        if security is None:
            return _found(request, {})
        fields = self._fields(view, symbol)
        day = int(fields[30][:8]) if fields else 0
        entry = {
            "data": {"data": _line(view, security, day), "date": str(day) if day else ""},
            "qt": {symbol: fields, "market": [_market(view.now)], "zjlx": []},
            "mx_price": {"mx": [], "price": []},
            "prec": fields[4] if fields else "",
            "version": "4",
        }
        return _found(request, {symbol: entry})

    def five_day(self, request: HttpRequest, view: View) -> Reply:
        symbol = request.params().get("code", "")
        security = view.world.find(symbol)
        if security is None:
            return _found(request, {})
        days = [
            {
                "date": str(bar.date),
                "prec": bar.previous / PRICE_UNIT,
                "data": _line(view, security, bar.date),
            }
            for bar in reversed(series.daily(view.world, security, view.now)[-5:])
        ]
        fields = self._fields(view, symbol)
        entry = {"data": days, "qt": {symbol: fields, "market": [_market(view.now)]}, "prec": fields[4:5]}
        return _found(request, {symbol: entry})


def _found(request: HttpRequest, data: Any) -> Reply:
    return _json(request, {"code": 0, "msg": "", "data": data})


def _wrong(request: HttpRequest) -> Reply:
    return _json(request, {"code": -1, "msg": "param error", "data": None})


def _json(request: HttpRequest, document: Any) -> Reply:
    variable = request.params().get("_var")
    reply = json_reply(document)
    return Reply(f"{variable}=".encode() + reply.body) if variable else reply


def _words(request: HttpRequest, number: int) -> list[str]:
    """The parts of `param`; '' for those that are missing."""
    return [*request.params().get("param", "").split(","), *[""] * number][:number]


def _px(value: int, security: Security) -> str:
    return f"{value / PRICE_UNIT:.{security.decimals}f}"


def _prices(bar: Bar, security: Security) -> list[Any]:
    return [_px(value, security) for value in (bar.open, bar.close, bar.high, bar.low)]


def _bar(bar: Bar, security: Security, lot: int, *, long: bool) -> list[Any]:
    row = [bar.iso, *_prices(bar, security), f"{bar.volume // lot:.2f}"]
    if not long:
        return row
    turnover = "0.00" if math.isnan(bar.turnover) else f"{bar.turnover:.2f}"
    return [*row, {}, turnover, f"{bar.amount / 1e4:.2f}", "0.00", "0.00"]


def _minute_bar(bar: Bar, security: Security, lot: int, float_shares: int) -> list[Any]:
    # Turnover in basis points, not an amount.
    turnover = f"{bar.volume / float_shares * 1e4:.2f}" if float_shares else "0.00"
    stamp = f"{bar.date}{bar.clock.replace(':', '')}"
    return [stamp, *_prices(bar, security), f"{bar.volume // lot:.2f}", {}, turnover]


def _line(view: View, security: Security, day: int) -> list[str]:
    """`HHMM price cumulative-volume cumulative-amount`, from the row of the auction on."""
    bars = series.line(view.world, security, view.now, day) if day else []
    lot = lot_of(security, view)
    lines = []
    volume, money = 0, 0.0
    for bar in bars:
        volume += bar.volume
        money += bar.amount
        clock = bar.clock.replace(":", "")
        lines.append(f"{clock} {_px(bar.close, security)} {volume // lot} {money:.2f}")
    return lines


def _market(now: datetime) -> str:
    closed = not ((9, 30) <= (now.hour, now.minute) < (15, 0))
    state = "close_已收盘" if closed else "open_交易中"
    return f"{now:%Y-%m-%d %H:%M:%S}|HK_{state}|SH_{state}|SZ_{state}|US_close_已收盘"
