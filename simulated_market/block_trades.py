"""Block trades of a world: about one security in thirty a day, at a discount, some of them twice.

A deal has its price within the limits of the day and its volume in hundreds of shares. Deals of a date appear
at 18:00.
"""

from dataclasses import dataclass, field
from random import Random

from simulated_market.branches import INSTITUTION, branch
from simulated_market.days import DayBar, at, dates_between, day_bar, is_out
from simulated_market.draws import draws
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Security

PUBLISHED = "18:00"
_SHARE = 0.035
_LEAST_AMOUNT = 2_000_000.0
_KINDS = {"stock", "b", "cb", "etf"}
_CLOSEST = 0.049
"""Within the narrowest limits, so that no board's are left."""


@dataclass(frozen=True)
class Deal:
    """One deal: CNY and shares."""

    security: Security
    name: str
    date: int
    price: float
    volume: int
    buyer: str
    seller: str
    bar: DayBar

    @property
    def amount(self) -> float:
        return round(self.price * self.volume, 2)


@dataclass
class BlockTrades:
    """The deals of a world. A date that is out does not change, so it is remembered."""

    _memo: FactMemo[list[Deal]] = field(default_factory=FactMemo)

    def of_date(self, view: View, day: int) -> list[Deal]:
        """Every deal of a date, by code; none before they are published."""
        if not is_out(view, day, PUBLISHED):
            return []
        return self._memo.of(view, day, lambda: _deals(view, day))

    def at_exchange(self, view: View, since: int, until: int, market: str) -> list[Deal]:
        """The deals in shares and funds at an exchange, newest date first."""
        return [
            one
            for day in reversed(dates_between(view, since, until, PUBLISHED))
            for one in self.of_date(view, day)
            if one.security.market == market and one.security.kind != "cb"
        ]


def _deals(view: View, day: int) -> list[Deal]:
    made = []
    then = at(day, PUBLISHED)
    for security in view.world.securities(then):
        if security.kind not in _KINDS:
            continue
        random = draws("deal", security.symbol, day)
        if random.random() >= _SHARE:
            continue
        bar = day_bar(view, security, day)
        if bar is not None:
            made += _of_security(view.world.name(security, then), security, day, bar, random)
    return sorted(made, key=lambda deal: deal.security.code)


def _of_security(name: str, security: Security, day: int, bar: DayBar, random: Random) -> list[Deal]:
    preclose = int(bar.bars.preclose[bar.place]) / PRICE_UNIT
    buyer = INSTITUTION if random.random() < 0.3 else branch(random)
    made = []
    for _ in range(random.randint(1, 4)):
        agreed = bar.close * (1 + random.choice((0.0, random.uniform(-0.09, 0.02))))
        price = round(min(max(agreed, preclose * (1 - _CLOSEST)), preclose * (1 + _CLOSEST)), 2)
        volume = int(max(300_000 * random.uniform(0.2, 3), _LEAST_AMOUNT / price) // 100 + 1) * 100
        deal = Deal(security, name, day, price, volume, buyer, branch(random), bar)
        made += [deal, deal] if random.random() < 0.2 else [deal]
    return made
