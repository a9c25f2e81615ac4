"""Which security a row is of: its six digits and the portal's number of the market."""

from typing import Any

from core.errors import PayloadError
from core.market.symbols import listed_symbol

_MARKETS = {0: 0, 1: 1, "0": 0, "1": 1}


def symbol_of(code: Any, market: Any, what: str) -> str:
    """The symbol; the market is a number or its text. Raises PayloadError."""
    if not isinstance(code, str) or len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {code!r} is no code")
    known = _MARKETS.get(market) if type(market) in {int, str} else None
    if known is None:
        raise PayloadError(f"{what}: {code} is of market {market!r}")
    return listed_symbol(known, code)
