"""Instrument symbols. Inside the project an instrument is `sh600519`, `hk00700`, `usAAPL`; each
upstream's own spelling is made from it, and the dataset code (`600519`, but `sh000001`) as well.

A six-digit code alone is ambiguous (`sh000001` is an index, `sz000001` a bank), so nothing here
guesses a market from digits.
"""

import re
from dataclasses import dataclass

from resources.errors import InputError

_SYMBOL = re.compile(r"\A(sh|sz|bj)(\d{6})\Z")
_FOREIGN = re.compile(r"\A(hk)([A-Z]{2,8}|\d{5})\Z|\A(us)(\.?[A-Z][A-Z0-9.]{0,11})\Z")

_SH_CB = ("110", "111", "113", "118")
_SZ_CB = ("123", "127", "128")


@dataclass(frozen=True)
class Instrument:
    """`market` SH, SZ, BJ, HK or US; `kind` stock, b, index, etf, lof, cb, reit, hk or us."""

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
        return self.market == "SH" and self.kind == "stock" and self.code.startswith(("688", "689"))

    @property
    def secid(self) -> str:
        """The finance portal's `<market>.<code>`; mainland instruments only."""
        if self.market not in {"SH", "SZ", "BJ"}:
            raise InputError("symbol", f"{self.symbol} has no documented secid")
        return f"{1 if self.market == 'SH' else 0}.{self.code}"


def instrument(symbol: str) -> Instrument:
    """Parse a symbol. Raises `InputError`."""
    match = _SYMBOL.match(symbol)
    if match is not None:
        market, code = match.group(1).upper(), match.group(2)
        return Instrument(symbol, market, code, _kind(market, code))
    foreign = _FOREIGN.match(symbol)
    if foreign is None:
        raise InputError("symbol", f"{symbol!r} is no symbol like sh600519, hk00700 or usAAPL")
    if foreign.group(1):
        code = foreign.group(2)
        return Instrument(symbol, "HK", code, "hk" if code.isdigit() else "index")
    code = foreign.group(4)
    kind = "index" if code.lstrip(".") in {"DJI", "IXIC", "INX", "NDX"} else "us"
    return Instrument(symbol, "US", code, kind)


def _kind(market: str, code: str) -> str:
    rules: tuple[tuple[tuple[str, ...], str], ...] = ((("899",), "index"),)
    if market == "SH":
        rules = (
            (("000",), "index"),
            (("508",), "reit"),
            (("51", "52", "53", "56", "58"), "etf"),
            (("50",), "lof"),
            (_SH_CB, "cb"),
            (("900",), "b"),
        )
    elif market == "SZ":
        rules = (
            (("399",), "index"),
            (("180",), "reit"),
            (("159",), "etf"),
            (("16",), "lof"),
            (_SZ_CB, "cb"),
            (("200",), "b"),
        )
    for prefixes, kind in rules:
        if code.startswith(prefixes):
            return kind
    return "stock"


def listed_symbol(em_market: int, code: str) -> str:
    """The symbol behind the portal's (f13, f12). Market 0 holds Shenzhen and Beijing."""
    if em_market == 1:
        return f"sh{code}"
    return f"{'bj' if code.startswith(('4', '8', '92')) else 'sz'}{code}"
