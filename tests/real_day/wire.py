"""What each wire leaves of a number: the one table of precisions that a comparison with the files allows.

Written down from the wire formats, not from the product: a stored volume or amount must equal the file's
after exactly the rounding of the call that served it, no more and no less.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LOT = 100


def float32(value: float) -> float:
    """The nearest number with a mantissa of 24 bits."""
    return float(np.float32(value))


def float32_step(value: float) -> float:
    """Distance to the next number of 24 bits."""
    return float(np.spacing(np.float32(value)))


def is_star(symbol: str) -> bool:
    return symbol[2:5] in {"688", "689"}


def _lots_half_up(shares: int, symbol: str) -> float:
    return (shares + LOT // 2) // LOT * LOT


def _lots_half_up_float32(shares: int, symbol: str) -> float:
    return float32((shares + LOT // 2) // LOT) * LOT


def _lots_cut(shares: int, symbol: str) -> float:
    return shares // LOT * LOT


def _lots_cut_star_shares(shares: int, symbol: str) -> float:
    return shares if is_star(symbol) else shares // LOT * LOT


def _amount_float32(cny: float) -> float:
    return round(float32(cny), 2)


def _amount_cny(cny: float) -> float:
    return float(round(cny))


def _amount_hundred(cny: float) -> float:
    return float(f"{cny / 10_000:.2f}") * 10_000


def _amount_fen(cny: float) -> float:
    return round(cny, 2)


@dataclass(frozen=True)
class Precision:
    """`volume`: (shares, symbol) -> shares as they arrive; `amount`: CNY -> CNY. `decimals`
    of a price; shares have two in the files, so only index levels lose any. `says` is for the report."""

    says: str
    volume: Callable[[int, str], float]
    amount: Callable[[float], float]
    decimals: int


PRECISION: dict[tuple[str, str], Precision] = {
    ("tdx", "bars"): Precision(
        "lots in 24 bits, amount in 24 bits", _lots_half_up_float32, _amount_float32, 3
    ),
    ("tdx", "quotes"): Precision("lots, amount in 24 bits", _lots_half_up, _amount_float32, 2),
    ("tencent", "quotes"): Precision("lots (STAR: shares), whole CNY", _lots_cut_star_shares, _amount_cny, 2),
    ("tencent", "bars"): Precision(
        "lots (STAR: shares), 10k CNY to 2 decimals", _lots_cut_star_shares, _amount_hundred, 2
    ),
    ("eastmoney", "bars"): Precision("lots, CNY to 2 decimals", _lots_cut, _amount_fen, 2),
}
"""(upstream, call) -> precision."""


def is_level(stored: float | None, true: float, decimals: int) -> bool:
    """Whether `stored` is `true` with that many decimals."""
    if stored is None or abs(stored - round(stored, decimals)) > 1e-9:
        return False
    return abs(stored - true) <= 0.5 * 10**-decimals + 1e-9


def same_amount(stored: float, expected: float) -> bool:
    """Equality of doubles that hold at most two decimals."""
    return math.isclose(stored, expected, rel_tol=0, abs_tol=0.001)
