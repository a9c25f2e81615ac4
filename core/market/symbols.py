"""Instrument symbols. Inside the project an instrument is `sh600519`, `hk00700`, `usAAPL`; each
upstream's own spelling is made from it, and the dataset code (`600519`, but `sh000001`) as well.

A six-digit code alone is ambiguous (`sh000001` is an index, `sz000001` a bank), so nothing here
guesses a market from digits. People write codes in more ways: `security_code` and `index_code` read all of
them for a place that takes the one or the other, `dataset_code` for one that takes both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import InputError
from core.market.securities import INDEX, OTHER, board_of, market_of, sec_type_of

INDEX_NAMES: Mapping[str, str] = {
    "sh000001": "上证指数",
    "sz399001": "深证成指",
    "sz399006": "创业板指",
    "sh000300": "沪深300",
    "sh000905": "中证500",
    "sh000852": "中证1000",
    "sh000016": "上证50",
}
"""The broad indices."""
_BY_NAME = {name: symbol for symbol, name in INDEX_NAMES.items()}
NOTATION = (
    r"(?:(?P<before>[Ss][Hh]|[Ss][Zz]|[Bb][Jj])[.:_]?|(?P<number>[01])\.)?(?P<code>[0-9]{6})"
    r"(?:[.:_]?(?P<after>[Ss][HhZzSs]|[Bb][Jj]|[Xx][Ss][Hh][GgEe]|[Xx][Bb][Ss][Ee]))?"
)
"""600519, sh600519, SH.600519, 600519.SH, 600519.XSHG, 1.600519."""
MARKET_OF_MARK: Mapping[str, str] = {
    "sh": "SH", "ss": "SH", "xshg": "SH", "sz": "SZ", "xshe": "SZ", "bj": "BJ", "xbse": "BJ",
}  # fmt: skip
"""What marks a market before or after six digits."""
_NOTATION = re.compile(NOTATION)
_INDUSTRY = ("80", "85")
"""First digits of the indices of industries, which are held without a market."""

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


def _parts(text: str) -> tuple[str, str | None] | None:
    """(six digits, market) of a code in any notation; None of anything else."""
    found = _NOTATION.fullmatch(text)
    if found is None:
        return None
    code, number = found["code"], found["number"]
    marks = {MARKET_OF_MARK[mark.lower()] for mark in (found["before"], found["after"]) if mark}
    if number is not None:
        marks.add(market_of(code, shanghai=number == "1"))
    if len(marks) > 1:
        raise InputError("code", f"{text[:20]!r} names two markets")
    return code, marks.pop() if marks else None


def dataset_code(text: str) -> str:
    """The code under which the datasets hold what a notation names: `600519` of 600519, sh600519, SH600519,
    600519.SH and 1.600519; `sh000001` of 000001.SH and 上证指数. Anything else (00700, BK0475) is returned as
    it is. Raises InputError for digits that the named market does not have."""
    plain = text.strip()
    named = _BY_NAME.get(plain)
    parts = _parts(plain)
    if named is not None or parts is None:
        return named or plain
    code, market = parts
    if market is None:
        return code
    kind = sec_type_of(code, market)
    if kind == INDEX:
        return f"{market.lower()}{code}"
    others = [one for one in ("SH", "SZ", "BJ") if sec_type_of(code, one) != OTHER]
    if kind == OTHER and others:
        near = " or ".join(f"{code}.{one}" for one in others)
        raise InputError("code", f"{text[:20]!r} is no number of {market}; nearest: {near}")
    return code


def security_code(text: str) -> str:
    """Six digits of a security in any notation. Raises InputError for an index, and for anything else."""
    code = dataset_code(text)
    if len(code) == 6 and code.isascii() and code.isdigit():
        return code
    if code in INDEX_NAMES or _SYMBOL.match(code):
        raise InputError("code", f"{text[:20]!r} is the index {code}, and no security")
    raise InputError("code", f"{text[:20]!r} is no code; 600519, sh600519, 600519.SH or 1.600519 is allowed")


def index_code(text: str) -> str:
    """The symbol of an index in any notation: `sh000300` of 000300, 000300.SH, sh000300, 1.000300 and
    沪深300; of the index of an industry its digits. Raises InputError for anything else."""
    plain = text.strip()
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    code, market = _parts(plain) or ("", None)
    if market is None and code.startswith(_INDUSTRY):
        return code
    if market is None:
        market = "SZ" if code.startswith("399") else "BJ" if code.startswith("899") else "SH"
    if sec_type_of(code, market) != INDEX:
        raise InputError("code", f"{text[:20]!r} is no index; sh000300, 000300 or 801780 are allowed")
    return f"{market.lower()}{code}"
