"""The portal's hosts: routes, and the series endpoints (kline, trends2, fflow, kamt)."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

from simulated_market import series
from simulated_market.connect_days import southbound_net
from simulated_market.eastmoney import (
    changes,
    envelope,
    futures_lines,
    macro,
    pools,
    popularity,
    profiles,
)
from simulated_market.eastmoney.business import business
from simulated_market.eastmoney.company import CompanyPages
from simulated_market.eastmoney.envelope import bars_reply, chosen, market_of, reply, security_of
from simulated_market.eastmoney.facts import Money, SecurityFacts, cny, money_of
from simulated_market.eastmoney.fields import last_update
from simulated_market.eastmoney.lists import Lists
from simulated_market.eastmoney.press import PressContext
from simulated_market.eastmoney.reports import Reports
from simulated_market.series import Bar
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Route, View, route, unix
from simulated_market.world.dates import iso_of
from simulated_market.world.model import PRICE_UNIT, Security

T = TypeVar("T")
_PERIODS = {102: "week", 103: "month", 104: "quarter", 105: "half", 106: "year"}
_ADJUST = {"1": "qfq", "2": "hfq"}
_MOST_MINUTE_BARS = 2000
_BREADTH_INDEX = "sh000001"


_EXCHANGES = ("sh000001", "sz399001")
"""Indices whose money flow is that of their exchange."""


class EastmoneyResponder:
    """push2 and push2his with their numbered shards, the limit pools (push2ex), the data centre
    (datacenter-web), the press and the app's ranking (emappdata)."""

    upstream = "eastmoney"

    def __init__(self, books: Books | None = None) -> None:
        books = books or Books()
        self._lists = Lists()
        finance = books.finance
        self._reports = Reports(finance, books)
        pages = CompanyPages(finance)
        self._press = PressContext(books.notices)
        self.routes: Sequence[Route] = (
            route("clist", r"/api/qt/clist/get", self._lists.clist),
            route("ulist", r"/api/qt/ulist\.np/get", self._lists.ulist),
            route("slist", r"/api/qt/slist/get", self._lists.slist),
            route("stock_get", r"/api/qt/stock/get", self._lists.security),
            route("kline", r"/api/qt/stock/kline/get", kline),
            route("trends2", r"/api/qt/stock/trends2/get", trends),
            route("fflow_minute", r"/api/qt/stock/fflow/kline/get", self.flow_minutes),
            route("fflow_day", r"/api/qt/stock/fflow/daykline/get", self.flow_days),
            route("kamt", r"/api/qt/kamt/get", connect),
            route("kamt_minute", r"/api/qt/kamt\.rtmin/get", connect_minutes),
            route("report", r"/api/data/v1/get", self._reports.report),
            route("older_report", r"/api/data/get", self._reports.older),
            route("f10_report", r"/securities/api/data/v1/get", self._reports.report),
            route("f10_main", r"/securities/api/data/get", pages.main),
            route("f10_kind", r"/PC_HSF10/NewFinanceAnalysis/Index", pages.kind),
            route("f10_dates", r"/PC_HSF10/NewFinanceAnalysis/(?:zcfzb|lrb|xjllb)DateAjaxNew", pages.dates),
            route(
                "f10_statement", r"/PC_HSF10/NewFinanceAnalysis/(?:zcfzb|lrb|xjllb)AjaxNew", pages.statement
            ),
            route("f10_survey", r"/PC_HSF10/CompanySurvey/PageAjax", profiles.survey),
            route("f10_holders", r"/PC_HSF10/ShareholderResearch/PageAjax", profiles.holders_page),
            route("f10_operations", r"/PC_HSF10/BusinessAnalysis/PageAjax", business),
            route("notices", r"/api/security/ann", self._press.notices),
            route("research", r"/report/list", self._press.research),
            route("articles", r"/search/jsonp", self._press.articles),
            route("flash", r"/comm/web/getFastNewsList", self._press.flashes),
            route("limit_pool", pools.PATHS, partial(pools.page, books.limits)),
            route("stock_changes", r"/getAllStockChanges", partial(changes.page, books.limits)),
            route("popularity", r"/stockrank/getAllCurrentList", partial(popularity.page, books.limits)),
        )

    def flow_days(self, request: HttpRequest, view: View) -> Reply:
        """Nets of about 120 dates: main, small, medium, large, super and their percentages."""
        params = request.params()
        found = self._members(view, params.get("secid", ""))
        if found is None:
            return reply(request, envelope.RT_FLOW, None, rc=102)
        head, members = found
        by_date: dict[int, list[Any]] = {}
        for one in members:
            for flow in one.flows:
                by_date.setdefault(flow.date, []).append(flow)
        lines = []
        for day, flows in sorted(by_date.items()):
            money = money_of(flows)
            if money is None:
                continue
            close = cny(flows[0].close) if len(members) == 1 else 0.0
            change = flows[0].change_pct if len(members) == 1 else 0.0
            lines.append(f"{iso_of(day)},{_nets(money)},{_shares(money)},{close:.2f},{change:.2f},0.00,0.00")
        lines = _newest(params, lines)
        return reply(request, envelope.RT_FLOW, head | {"klines": [chosen(params, line) for line in lines]})

    def flow_minutes(self, request: HttpRequest, view: View) -> Reply:
        """Today's nets, cumulative: the day's net in proportion to the amount traded so far. `secid2` adds a
        second one."""
        params = request.params()
        found = self._members(view, params.get("secid", ""))
        if found is None:
            return reply(request, envelope.RT_FLOW, None, rc=102)
        head, members = found
        second = self._members(view, params.get("secid2", ""))
        if second is not None:
            members = [*members, *second[1]]
        totals: dict[int, list[float]] = {}
        day = 0
        for one in members:
            money, quote = one.money(), one.trading
            minutes = None if quote is None else view.world.minutes(one.security, quote.date, view.now)
            if money is None or quote is None or minutes is None or not len(minutes.minute):
                continue
            day = max(day, quote.date)
            so_far = list(accumulate(minutes.amount.tolist()))
            nets = [money.net(size) for size in ("small", "medium", "large", "super_large")]
            for minute, amount in zip(minutes.minute.tolist(), so_far, strict=True):
                sums = totals.setdefault(minute, [0.0] * 4)
                for at, net in enumerate(nets):
                    sums[at] += round(net * amount / (so_far[-1] or 1.0))
        lines = []
        for minute, (small, medium, large, biggest) in sorted(totals.items()):
            clock = f"{iso_of(day)} {minute // 60:02d}:{minute % 60:02d}"
            values = (large + biggest, small, medium, large, biggest)
            lines.append(f"{clock}," + ",".join(f"{value:.1f}" for value in values))
        lines = _newest(params, lines)
        return reply(request, envelope.RT_FLOW, head | {"klines": [chosen(params, line) for line in lines]})

    def _members(self, view: View, secid: str) -> tuple[dict[str, Any], list[SecurityFacts]] | None:
        """Head of the answer and the securities whose flows it sums: one security, the members of a board, or
        of a main index the stocks of its exchange."""
        market, _, code = secid.partition(".")
        if market == "90":
            board = self._lists.board_facts(view, code)
            if board is None:
                return None
            return {"code": code, "market": 90, "name": board.board.name}, board.members
        security = security_of(view.world, secid)
        if security is None:
            return None
        facts = self._lists.facts(view, security)
        head = _named(security, view)
        if security.symbol not in _EXCHANGES:
            return head, [facts]
        listed = [one for one in view.world.securities(view.now) if one.kind == "stock"]
        return head, [self._lists.facts(view, one) for one in listed if one.market == security.market]


def kline(request: HttpRequest, view: View) -> Reply:
    other = macro.levels(request, view) or futures_lines.kline(request, view)
    if other is not None:
        return other
    params = request.params()
    security = security_of(view.world, params.get("secid", ""))
    klt = params.get("klt", "101")
    if security is None or not klt.isdigit():
        return reply(request, 1, None, rc=100)
    answered = _answered_security(view, security)
    number = int(klt)
    if number in {1, 5, 15, 30, 60}:
        bars = series.minute_bars(view.world, security, view.now, number, _MOST_MINUTE_BARS)
    else:
        bars = series.daily(view.world, security, view.now, _ADJUST.get(params.get("fqt", "0"), ""))
        if number in _PERIODS:
            bars = series.periods(bars, _PERIODS[number])
    total = len(bars)
    beg, end = int(params.get("beg") or 0), int(params.get("end") or 20500101)
    bars = [bar for bar in bars if beg <= bar.date <= end]
    bars = _newest(params, bars)
    return bars_reply(
        request,
        _named(answered, view),
        [chosen(params, _kline(bar, answered, view)) for bar in bars],
        decimals=answered.decimals,
        total=total,
        previous=cny(bars[0].previous) if bars else 0.0,
    )


def _newest(params: Mapping[str, str], rows: list[T]) -> list[T]:
    """The newest `lmt` rows; all of them where it is 0 or not given."""
    limit = params.get("lmt", "")
    return rows[-int(limit) :] if limit.isdigit() and int(limit) else rows


def _named(security: Security, view: View) -> dict[str, Any]:
    name = view.world.name(security, view.now)
    return {"code": security.code, "market": market_of(security), "name": name}


def trends(request: HttpRequest, view: View) -> Reply:
    params = request.params()
    security = security_of(view.world, params.get("secid", ""))
    quote = None if security is None else view.world.quote(security, view.now)
    if security is None or quote is None:
        return reply(request, envelope.RT_TRENDS, None, rc=102)
    answered = _answered_security(view, security)
    days = min(5, max(1, int(params.get("ndays", "1"))))
    dates = [bar.date for bar in series.daily(view.world, security, view.now)[-days:]]
    lot = view.lot(answered.board, 10 if answered.kind == "cb" else 100)
    lines = []
    for day in dates:
        volume, money = 0, 0.0
        for bar in series.line(view.world, security, view.now, day):
            volume += bar.volume
            money += bar.amount
            mean = cny(bar.close) if answered.kind == "index" or not volume else money / volume
            prices = ",".join(_px(value, answered) for value in (bar.open, bar.close, bar.high, bar.low))
            lines.append(f"{bar.iso} {bar.clock},{prices},{bar.volume // lot},{bar.amount:.2f},{mean:.3f}")
    data = {
        "code": answered.code,
        "market": market_of(answered),
        "type": 2,
        "status": 0,
        "name": view.world.name(answered, view.now),
        "decimal": answered.decimals,
        "preSettlement": 0.0,
        "preClose": cny(quote.preclose),
        "beticks": "33300|34200|54000|34200|41400|46800|54000",
        "trendsTotal": 241,
        "time": unix(last_update(quote, view.now)),
        "kind": 1,
        "prePrice": cny(quote.preclose),
        "tradePeriods": {
            "pre": None,
            "after": None,
            "periods": [{"b": 202000000930, "e": 202000001130}, {"b": 202000001300, "e": 202000001500}],
        },
        "trends": [chosen(params, line) for line in lines],
    }
    return reply(request, envelope.RT_TRENDS, data)


CONNECT_FIELDS = frozenset(f"f{number}" for number in range(51, 57))
"""The fields of a stock connect channel other than bought and sold."""


def connect(request: HttpRequest, view: View) -> Reply:
    """Northbound is not disclosed (zeros since 2024-08-19). Southbound of a synthetic market follows
    from its turnover and direction; a replayed market has none, so it is 0 as well."""
    day, net = _southbound(view)
    closed = 3 if view.now.hour >= 15 or view.now.hour < 9 else 1
    whole = not set(request.params().get("fields2", "").split(",")) <= CONNECT_FIELDS

    def channel(threshold: float, value: float, amount: float) -> dict[str, Any]:
        dealt = {
            "buyAmt": (amount + value) / 2,
            "sellAmt": (amount - value) / 2,
            "buySellAmt": amount,
            "netBuyAmt": value,
        }
        return {
            "status": closed,
            "dayNetAmtIn": value,
            "dayAmtRemain": threshold - value if value else 0.0,
            "dayAmtThreshold": threshold,
            "date": day[5:],
            "date2": day,
            **(dealt if whole else {}),
        }

    data = {
        "hk2sh": channel(5_200_000.0, 0.0, 0.0),
        "hk2sz": channel(5_200_000.0, 0.0, 0.0),
        "sh2hk": channel(4_200_000.0, round(net * 0.6, 2), round(abs(net) * 9, 2)),
        "sz2hk": channel(4_200_000.0, round(net * 0.4, 2), round(abs(net) * 6, 2)),
    }
    return reply(request, envelope.RT_CONNECT, data)


def connect_minutes(request: HttpRequest, view: View) -> Reply:
    day, net = _southbound(view)
    now = view.now.hour * 60 + view.now.minute if view.now.date().isoformat() == day else 24 * 60
    clocks = [*range(9 * 60, 12 * 60 + 1), *range(13 * 60, 16 * 60 + 11)]
    north, south = [], []
    for at, minute in enumerate(clocks):
        clock = f"{minute // 60}:{minute % 60:02d}"
        north.append(f"{clock},-,-,-,-,-" if minute > now else f"{clock},0.00,0.00,0.00,0.00,0.00")
        part = net * (at + 1) / len(clocks)
        sh, sz = part * 0.6, part * 0.4
        left = (4_200_000 - sh, 4_200_000 - sz)
        line = f"{clock},{sh:.2f},{left[0]:.2f},{sz:.2f},{left[1]:.2f},{sh + sz:.2f}"
        south.append(f"{clock},-,-,-,-,-" if minute > now else line)
    data = {"s2n": north, "n2s": south, "n2sDate": day[5:], "s2nDate": day[5:]}
    return reply(request, envelope.RT_CONNECT, data)


def _southbound(view: View) -> tuple[str, float]:
    """(trade date, net of the day in 10k CNY) of this moment."""
    index = view.world.find(_BREADTH_INDEX)
    quote = None if index is None else view.world.quote(index, view.now)
    if quote is None:
        return view.now.date().isoformat(), 0.0
    if not quote.preclose:
        return iso_of(quote.date), 0.0
    return iso_of(quote.date), southbound_net(view, quote.amount, quote.price / quote.preclose - 1)


def _answered_security(view: View, asked: Security) -> Security:
    """The security whose name and code the answer carries: a wrong instrument names itself."""
    if view.fault is None or view.fault.kind != "wrong_instrument":
        return asked
    if view.fault.args.get("under") not in {None, asked.code, asked.symbol}:
        return asked
    return view.world.find(str(view.fault.args.get("serve", _BREADTH_INDEX))) or asked


def _kline(bar: Bar, security: Security, view: View) -> str:
    lot = view.lot(security.board, 10 if security.kind == "cb" else 100)
    stamp = f"{bar.iso} {bar.clock}" if bar.minute else bar.iso
    change = bar.close - bar.previous
    base = bar.previous or 1
    return ",".join(
        [
            stamp,
            *(_px(value, security) for value in (bar.open, bar.close, bar.high, bar.low)),
            str(bar.volume // lot),
            f"{bar.amount:.2f}",
            f"{(bar.high - bar.low) / base * 100:.2f}",
            f"{change / base * 100:.2f}",
            _px(change, security),
            "0.00" if math.isnan(bar.turnover) else f"{bar.turnover:.2f}",
        ]
    )


def _nets(money: Money) -> str:
    """Main is the sum of the two rounded parts, as on the wire."""
    large, biggest = round(money.net("large")), round(money.net("super_large"))
    values = (large + biggest, round(money.net("small")), round(money.net("medium")), large, biggest)
    return ",".join(f"{value:.1f}" for value in values)


def _shares(money: Money) -> str:
    """Nets in percent of everything traded: what came in and what went out."""
    total = sum(money.inflow.values()) + sum(money.outflow.values()) or 1.0
    sizes = [money.net(size) for size in ("small", "medium", "large", "super_large")]
    return ",".join(f"{value / total * 100:.2f}" for value in (money.main, *sizes))


def _px(value: int, security: Security) -> str:
    return f"{value / PRICE_UNIT:.{security.decimals}f}"


__all__ = ["EastmoneyResponder"]
