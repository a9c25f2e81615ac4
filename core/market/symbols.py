"""Instrument symbols. Inside the project an instrument is `sh600519`, `hk00700`, `usAAPL`; each
upstream's own spelling is made from it, and the dataset code (`600519`, but `sh000001`) as well.

A six-digit code alone is ambiguous (`sh000001` is an index, `sz000001` a bank), so nothing here
guesses a market from digits.
"""

import re
from dataclasses import dataclass

from core.errors import InputError
from core.market.securities import board_of, market_of, sec_type_of

_SYMBOL = re.compile(r"\A(sh|sz|bj)(\d{6})\Z")
_FOREIGN = re.compile(r"\A(hk)([A-Z]{2,8}|\d{5})\Z|\A(us)(\.?[A-Z][A-Z0-9.]{0,11})\Z")


@dataclass(frozen=True)
class Instrument:
    """`market` SH, SZ, BJ, HK or US; `kind` hk, us, or a type of `core/market/securities.py`."""

    symbol: str
    market: str
    code: str
    kind: str

    @property
    def dataset_code(self) -> str:
        """What the datasets' `code` column holds."""
        return self.symbol if self.kind == "index" else self.code

    @property
    def is_star(self) -> bool:
        """STAR board: its volumes come in other units than the rest's."""
        return board_of(self.code, self.market) == "star"

    @property
    def secid(self) -> str:
        """The portal's `<market>.<code>`; mainland instruments only."""
        if self.market not in {"SH", "SZ", "BJ"}:
            raise InputError("symbol", f"{self.symbol} has no documented secid")
        return f"{1 if self.market == 'SH' else 0}.{self.code}"


def instrument(symbol: str) -> Instrument:
    """Parse a symbol. Raises `InputError`."""
    match = _SYMBOL.match(symbol)
    if match is not None:
        market, code = match.group(1).upper(), match.group(2)
        return Instrument(symbol, market, code, sec_type_of(code, market))
    foreign = _FOREIGN.match(symbol)
    if foreign is None:
        raise InputError("symbol", f"{symbol!r} is no symbol like sh600519, hk00700 or usAAPL")
    if foreign.group(1):
        code = foreign.group(2)
        return Instrument(symbol, "HK", code, "hk" if code.isdigit() else "index")
    code = foreign.group(4)
    kind = "index" if code.lstrip(".") in {"DJI", "IXIC", "INX", "NDX"} else "us"
    return Instrument(symbol, "US", code, kind)


def listed_symbol(market_number: int, code: str) -> str:
    """The symbol behind the portal's (f13, f12). Market 0 holds Shenzhen and Beijing."""
    return f"{market_of(code, shanghai=market_number == 1).lower()}{code}"
