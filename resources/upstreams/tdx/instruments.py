"""What a symbol says about its wire form: market byte, price decimals, lot size, index or not.

Prefix rules of the wire document (1.2, 1.9). The security list carries the decimals as well; where it
is at hand, its value can be handed to the calls that scale prices.
"""

import functools
import re
from dataclasses import dataclass

from resources.errors import InputError

MARKET_BYTES = {"sz": 0, "sh": 1, "bj": 2}
MARKET_NAMES = {byte: name for name, byte in MARKET_BYTES.items()}
_SYMBOL = re.compile(r"(sh|sz|bj)([0-9A-Za-z]{6})")

#: (market, prefixes, kind); the first match wins. Kinds that are not listed are `other`.
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("sh", ("000", "999999", "880", "881"), "index"),
    ("sh", ("60", "688", "689"), "stock"),
    ("sh", ("900",), "b"),
    ("sh", ("50", "51", "52", "53", "56", "58"), "fund"),
    ("sh", ("11",), "convertible"),
    ("sz", ("399",), "index"),
    ("sz", ("395",), "category"),
    ("sz", ("00", "30"), "stock"),
    ("sz", ("20",), "b"),
    ("sz", ("15", "16", "18"), "fund"),
    ("sz", ("12",), "convertible"),
    ("bj", ("899",), "index"),
    ("bj", ("4", "8", "92"), "stock"),
)
#: Kinds whose amount / volume must lie in the range of their prices (no foreign currency, no index).
GUARDED_KINDS = frozenset({"stock", "fund", "convertible"})


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
        return self.kind == "index"

    @property
    def lot(self) -> int:
        """Units in one lot: 10 convertible bonds, else 100 shares."""
        return 10 if self.kind == "convertible" else 100

    @property
    def decimals(self) -> int:
        """Decimals of quotes, minutes and ticks. Bars always have three."""
        # Shanghai B shares trade in USD with three decimals.
        three = self.kind in {"fund", "convertible"} or (self.kind == "b" and self.market == 1)
        return 3 if three else 2


@functools.lru_cache(maxsize=16384)
def instrument(symbol: str) -> Instrument:
    """`sh600519` -> Instrument; InputError for anything else."""
    match = _SYMBOL.fullmatch(symbol)
    if match is None:
        raise InputError("symbol", f"{symbol!r} is not of the form sh600519, sz000001 or bj920047")
    market, code = match.groups()
    kind = next((k for m, prefixes, k in _KINDS if m == market and code.startswith(prefixes)), "other")
    return Instrument(MARKET_BYTES[market], code, kind)


def market_byte(market: str) -> int:
    """'sh', 'sz', 'bj' (any case) -> market byte."""
    try:
        return MARKET_BYTES[market.lower()]
    except KeyError:
        raise InputError("market", f"{market!r} is not one of sh, sz, bj") from None
