"""Net asset values of the funds of a world: the price and its premium on what the fund holds. ETFs stay
within half a percent, LOFs within two; REITs keep a premium of their own."""

from simulated_market.draws import drawn
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Quote, Security

KINDS = ("etf", "lof", "reit")
_SPREAD = {"etf": 0.5, "lof": 2.0, "reit": 1.0}


def premium_pct(security: Security, day: int) -> float:
    """Percent of the price over the value on a date."""
    own = drawn(security.symbol, "nav") % 1000 / 1000
    today = drawn(security.symbol, day, "nav") % 1000 / 1000 - 0.5
    level = (own - 0.35) * 40 if security.kind == "reit" else 0.0
    return level + 2 * today * _SPREAD[security.kind]


def iopv(security: Security, quote: Quote) -> float:
    """The value of this moment, CNY."""
    return quote.price / PRICE_UNIT / (1 + premium_pct(security, quote.date) / 100)


def nav(view: View, security: Security, quote: Quote) -> float | None:
    """The value at the end of the session before, CNY; None on the first one."""
    bars = view.world.bars(security, view.now)
    before = [place for place in range(len(bars) - 1, -1, -1) if int(bars.date[place]) < quote.date][:1]
    if not before:
        return None
    close, day = int(bars.close[before[0]]), int(bars.date[before[0]])
    return close / PRICE_UNIT / (1 + premium_pct(security, day) / 100)
