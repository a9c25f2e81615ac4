"""Companies of a world with shares in Hong Kong as well. Their shares there follow their A shares at a
discount that moves a little every day; their half-yearly reports in CNY are those of the mainland."""

from dataclasses import dataclass

from simulated_market.corporate import stocks
from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Quote, Security

_ONE_OF = 12
RATE = 0.92
"""CNY of one HKD; it swings by a percent over the year."""


@dataclass(frozen=True)
class Pair:
    """One company: its A share and its code in Hong Kong."""

    security: Security
    h_code: str
    name: str
    quote: Quote

    @property
    def premium_pct(self) -> float:
        """A over H, percent."""
        own = drawn("ah", self.security.symbol) % 110
        return round(own - 10 + drawn(self.security.symbol, self.quote.date) % 300 / 100, 2)

    @property
    def rate(self) -> float:
        return round(RATE * (1 + (drawn("hkd", self.quote.date) % 200 - 100) / 10_000), 4)

    @property
    def a_price(self) -> float:
        return (self.quote.price or self.quote.preclose) / PRICE_UNIT

    @property
    def h_price(self) -> float:
        """HKD, three decimals."""
        return round(self.a_price / (1 + self.premium_pct / 100) / self.rate, 3)


def pairs(view: View) -> list[Pair]:
    """By code in Hong Kong; every company has one of its own."""
    if view.world.label != "sample":
        return []
    made: dict[str, Pair] = {}
    for security in stocks(view):
        if security.board != "main" or drawn("dual", security.symbol) % _ONE_OF:
            continue
        quote = view.world.quote(security, view.now)
        code = f"{1000 + drawn('hk', security.symbol) % 8000:05d}"
        if quote is not None and code not in made:
            made[code] = Pair(security, code, view.world.name(security, view.now), quote)
    return [made[code] for code in sorted(made)]
