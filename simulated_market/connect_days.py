"""Stock connect of a world by date: the facts that Hong Kong's exchange and the portal publish.

Northbound turnover is a share of what the mainland exchange traded. Southbound follows from turnover and
direction of the market, as its minute figures do. Millions.
"""

from dataclasses import dataclass

from simulated_market.days import day_bar
from simulated_market.wire import View
from simulated_market.world.dates import date_of

UNDISCLOSED_FROM = 20240819
HOLIDAYS = frozenset({(1, 1), (7, 1), (12, 25), (12, 26)})
"""Days on which Hong Kong alone is closed."""
_INDICES = {"hgt": ("sh000001", 0.09), "sgt": ("sz399001", 0.08)}
_DEAL = 0.0215
_QUOTA = {"north": 52_000.0, "south": 42_000.0}


@dataclass(frozen=True)
class Channel:
    """One channel on one date, millions."""

    name: str
    northbound: bool
    turnover: float
    bought: float
    sold: float
    deals: int

    @property
    def net(self) -> float:
        return round(self.bought - self.sold, 2)

    @property
    def quota_left(self) -> float:
        return round(_QUOTA["north" if self.northbound else "south"] - self.net, 2)


def southbound_net(view: View, amount: float, change: float) -> float:
    """10k of a day's net: a thousandth of the turnover per percent of change. A replayed market has none, so
    it is 0."""
    return round(amount / 1e4 * change * 100 / 1000, 2) if view.world.label == "sample" else 0.0


def of_date(view: View, day: int) -> list[Channel]:
    """The four channels of a trade date; none while Hong Kong is closed."""
    when = date_of(day)
    if (when.month, when.day) in HOLIDAYS:
        return []
    found = []
    for name, (symbol, share) in _INDICES.items():
        index = view.world.find(symbol)
        bar = None if index is None else day_bar(view, index, day)
        if bar is None:
            return []
        bought = round(bar.amount * share / 1e6 / 2 * (1 + bar.change_pct / 50), 2)
        sold = round(bar.amount * share / 1e6 - bought, 2)
        found.append(_channel(name, bought, sold, northbound=True))
        if name == "hgt":
            net = southbound_net(view, bar.amount, bar.change_pct / 100) / 100
    for name, part, turnover in (("ggt_sh", 0.6, 9.0), ("ggt_sz", 0.4, 6.0)):
        traded = abs(net) * turnover
        bought = round((traded + net * part) / 2, 2)
        found.append(_channel(name, bought, round(traded - bought, 2), northbound=False))
    return found


def summed(channels: list[Channel]) -> Channel:
    """Both northbound channels as one."""
    bought = round(sum(one.bought for one in channels), 2)
    sold = round(sum(one.sold for one in channels), 2)
    deals = sum(one.deals for one in channels)
    return Channel("north", True, round(bought + sold, 2), bought, sold, deals)


def _channel(name: str, bought: float, sold: float, *, northbound: bool) -> Channel:
    turnover = round(bought + sold, 2)
    return Channel(name, northbound, turnover, bought, sold, round(turnover / _DEAL))
