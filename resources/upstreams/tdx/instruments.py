"""What a symbol says about its wire form: market byte, price decimals, lot size, index or not.

The kind is that of `core/market/securities.py`. The security list carries the decimals as well; where it is
at hand, its value can be handed to the calls that scale prices.
"""

import functools
import re
from dataclasses import dataclass

from core.errors import InputError
from core.market import securities

MARKET_BYTES = {"sz": 0, "sh": 1, "bj": 2}
MARKET_NAMES = {byte: name for name, byte in MARKET_BYTES.items()}
_SYMBOL = re.compile(r"(sh|sz|bj)([0-9A-Za-z]{6})")

#: Kinds whose amount / volume must lie in the range of their prices (no foreign currency, no index).
GUARDED_KINDS = securities.FUNDS | {securities.STOCK, securities.CB}
#: Kinds of which no page of bars is known: an unknown index may be among them.
UNKNOWN_KINDS = frozenset({securities.OTHER, securities.CATEGORY, securities.BOND, securities.REPO})


@dataclass(frozen=True)
class Instrument:
    """One security as requests name it. `market` 0 SZ, 1 SH, 2 BJ."""

    market: int
    code: str
    kind: str

    @property
    def symbol(self) -> str:
        return MARKET_NAMES[self.market] + self.code

    @property
    def is_index(self) -> bool:
        return self.kind == securities.INDEX

    @property
    def lot(self) -> int:
        return securities.lot_of_kind(self.kind)

    @property
    def decimals(self) -> int:
        """Decimals of quotes, minutes and ticks. Bars always have three."""
        return securities.decimals_of(self.kind, MARKET_NAMES[self.market])


@functools.lru_cache(maxsize=16384)
def instrument(symbol: str) -> Instrument:
    """`sh600519` -> Instrument; InputError for anything else."""
    match = _SYMBOL.fullmatch(symbol)
    if match is None:
        raise InputError("symbol", f"{symbol!r} is not of the form sh600519, sz000001 or bj920047")
    market, code = match.groups()
    return Instrument(MARKET_BYTES[market], code, securities.sec_type_of(code, market))


def market_byte(market: str) -> int:
    """'sh', 'sz', 'bj' (any case) -> market byte."""
    try:
        return MARKET_BYTES[market.lower()]
    except KeyError:
        raise InputError("market", f"{market!r} is not one of sh, sz, bj") from None
