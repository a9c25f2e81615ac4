"""hsfundtab: money flow as texts in CNY. Minute values are cumulative and come newest first."""

from itertools import accumulate
from typing import Any

from simulated_market.wire import HttpRequest, Reply, View, json_reply
from simulated_market.world.dates import iso_of
from simulated_market.world.model import PRICE_UNIT, Flow, Security


def fund_flow(request: HttpRequest, view: View) -> Reply:
    params = request.params()
    symbol, days = params.get("code", ""), params.get("klineNeedDay", "0")
    if not days.isdigit() or int(days) > 50:
        return json_reply({"code": 51, "msg": "klineNeedDay invalid", "data": None})
    security = view.world.find(symbol)
    flows = [] if security is None else list(view.world.flows(security, view.now))
    if security is None or not flows:
        nothing = dict.fromkeys(("todayFundFlow", "todayFundTrend", "fiveDayFundFlow", "historyFundFlow"))
        return json_reply({"code": 0, "msg": "ok", "data": nothing})
    newest = flows[-1]
    five = [_net_of_day(one) for one in flows[-5:]]
    history = [_net_of_day(one) for one in flows[-int(days) :]]
    return json_reply(
        {
            "code": 0,
            "msg": "ok",
            "data": {
                "todayFundFlow": _today(symbol, newest),
                "todayFundTrend": {"stockCode": symbol, "minList": _trend(view, security, newest)},
                "fiveDayFundFlow": {
                    "fiveDayMainNetIn": f"{sum(map(main_net, flows[-5:])):.0f}",
                    "DayMainNetInList": five,
                },
                "historyFundFlow": {"oneDayKlineList": history} if int(days) else None,
                "activeFlow": None,
                "prec": "2",
            },
        }
    )


def _net_of_day(flow: Flow) -> dict[str, str]:
    return {"date": iso_of(flow.date), "mainNetIn": f"{main_net(flow):.0f}"}


def _today(symbol: str, flow: Flow) -> dict[str, Any]:
    super_net = round(flow.super_large_in - flow.super_large_out)
    large = round(flow.large_in - flow.large_out)
    sides = {
        "mainIn": flow.super_large_in + flow.large_in,
        "mainOut": flow.super_large_out + flow.large_out,
        "retailIn": flow.medium_in + flow.small_in,
        "retailOut": flow.medium_out + flow.small_out,
    }
    total = sum(sides.values())
    shown: dict[str, str] = {}
    for name, part in sides.items():
        shown |= {name: f"{part:.0f}", f"{name}Rate": f"{part / total * 100:.0f}" if total else "0"}
    return {
        "stockCode": symbol,
        "mainNetIn": str(super_net + large),
        **shown,
        "superFlow": str(super_net),
        "bigFlow": str(large),
        "normalFlow": f"{flow.medium_in - flow.medium_out:.0f}",
        "smallFlow": f"{flow.small_in - flow.small_out:.0f}",
        "rank": "",
        "summary": {},
    }


def _trend(view: View, security: Security, flow: Flow) -> list[dict[str, str]]:
    """The day's net spread over its minutes in proportion to the amount traded so far."""
    minutes = view.world.minutes(security, flow.date, view.now)
    if minutes is None or not len(minutes.minute):
        return []
    traded = list(accumulate(minutes.amount.tolist()))
    total = traded[-1] or 1.0
    net = main_net(flow)
    rows = [
        {
            "time": f"{flow.date}{minute // 60:02d}{minute % 60:02d}",
            "Price": f"{price / PRICE_UNIT:.2f}",
            "MainNetInflow": f"{net * so_far / total:.0f}",
            "RetailNetInflow": f"{-net * so_far / total:.0f}",
        }
        for minute, price, so_far in zip(minutes.minute.tolist(), minutes.price.tolist(), traded, strict=True)
    ]
    return rows[::-1]


def main_net(flow: Flow) -> float:
    """Of the super-large and the large orders."""
    return flow.super_large_in - flow.super_large_out + flow.large_in - flow.large_out
