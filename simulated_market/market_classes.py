"""The market of an exchange by class on one date: sums over the listed securities. CNY and shares."""

from collections.abc import Callable
from dataclasses import dataclass

from simulated_market.days import Shelf, is_out
from simulated_market.wire import View
from simulated_market.world.model import Security

PUBLISHED = "17:00"


@dataclass(frozen=True)
class MarketClass:
    name: str
    count: int
    amount: float
    volume: int
    cap: float
    float_cap: float


def _boards(*boards: str) -> Callable[[Security], bool]:
    return lambda one: one.kind == "stock" and one.board in boards


_CLASSES: dict[str, dict[str, Callable[[Security], bool]]] = {
    "SH": {
        "主板A股": _boards("main"),
        "主板B股": lambda one: one.kind == "b",
        "科创板": _boards("star"),
        "股票": lambda one: one.kind in {"stock", "b"},
    },
    "SZ": {
        "股票": lambda one: one.kind in {"stock", "b"},
        "主板A股": _boards("main"),
        "主板B股": lambda one: one.kind == "b",
        "创业板A股": _boards("gem"),
        "基金": lambda one: one.kind in {"etf", "lof", "reit"},
        "债券": lambda one: one.kind == "cb",
    },
}


class MarketClasses:
    """Bars are cached, since those of a closed day do not change."""

    def __init__(self) -> None:
        self._shelf = Shelf()

    def of_date(self, view: View, day: int, market: str) -> list[MarketClass]:
        """Every class of a market; none before it is published."""
        if not is_out(view, day, PUBLISHED):
            return []
        known = view.world.securities(view.now)
        listed = [one for one in known if one.market == market and one.list_date <= day]
        return [
            self._summed(view, day, name, [one for one in listed if belongs(one)])
            for name, belongs in _CLASSES[market].items()
        ]

    def _summed(self, view: View, day: int, name: str, members: list[Security]) -> MarketClass:
        amount, volume, cap, float_cap = 0.0, 0, 0.0, 0.0
        for one in members:
            bar = self._shelf.day_bar(view, one, day)
            if bar is None:
                continue
            total, floating = view.world.shares(one, view.now)
            amount += bar.amount
            volume += int(bar.bars.volume[bar.place])
            cap += total * bar.close
            float_cap += floating * bar.close
        return MarketClass(name, len(members), amount, volume, cap, float_cap)
