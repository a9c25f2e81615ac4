"""Bars of one code: adjustment on read, and their bytes.

Bars are stored unadjusted beside a cumulative backward factor. hfq = raw x factor; qfq divides by the
factor of the newest bar known, so that the newest bar shows the traded price. Only OHLC is adjusted:
volume and amount are unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import orjson

from platform_assets.compute.nan_arithmetic import filled_factor

PRICE_DECIMALS = 4
_BETWEEN = b"},{"


class Bar(NamedTuple):
    """An unadjusted daily bar, CNY and shares."""

    date: str
    open: float | None
    close: float | None
    high: float | None
    low: float | None
    volume: int | None
    amount: float | None
    factor: float | None


def known_factors(bars: Sequence[Bar]) -> list[float]:
    """The factor of each bar, oldest first, with missing ones filled."""
    reported: list[float] = filled_factor(np.array([bar.factor for bar in bars], dtype=np.float64)).tolist()
    return reported


def ratios(bars: Sequence[Bar], adjust: str) -> list[float]:
    """The multiplier of each bar's prices."""
    if adjust == "none" or not bars:
        return [1.0] * len(bars)
    factors = known_factors(bars)
    base = factors[-1] if adjust == "qfq" else 1.0
    return [factor / base for factor in factors]


def adjusted(bars: Sequence[Bar], adjust: str) -> list[dict[str, Any]]:
    """KBar objects of `bars` (oldest first)."""
    return [
        _kbar(bar if ratio == 1.0 else _scaled(bar, ratio))
        for bar, ratio in zip(bars, ratios(bars, adjust), strict=True)
    ]


def _kbar(bar: Bar) -> dict[str, Any]:
    day, opened, close, high, low, volume, amount, _ = bar
    return {
        "date": day, "open": opened, "close": close, "high": high, "low": low, "volume": volume,
        "amount": amount,
    }  # fmt: skip


def _scaled(bar: Bar, ratio: float) -> Bar:
    opened, close, high, low = (
        None if raw is None else round(raw * ratio, PRICE_DECIMALS) for raw in bar[1:5]
    )
    return bar._replace(open=opened, close=close, high=high, low=low)


@dataclass(frozen=True)
class EncodedBars:
    """KBar objects of one code as JSON, oldest first, joined by commas. `is_whole`: the warehouse has no
    older ones."""

    joined: bytes
    starts: tuple[int, ...]
    is_whole: bool

    @classmethod
    def encode(cls, rows: Sequence[dict[str, Any]], *, is_whole: bool) -> "EncodedBars":
        joined = orjson.dumps(rows)[1:-1]
        # No text in a bar contains a brace, so this only occurs between two bars.
        ends = accumulate(len(part) + len(_BETWEEN) for part in joined.split(_BETWEEN)[:-1])
        starts = (0, *(end - 1 for end in ends)) if rows else ()
        return cls(joined, starts, is_whole)

    @property
    def size(self) -> int:
        return len(self.joined) + 36 * len(self.starts) + 200

    def holds(self, days: int) -> bool:
        return self.is_whole or len(self.starts) >= days

    def last(self, days: int) -> tuple[orjson.Fragment, int]:
        """The JSON array of the newest `days` bars, and their number."""
        count = min(days, len(self.starts))
        if count == 0:
            return orjson.Fragment(b"[]"), 0
        return orjson.Fragment(b"[" + self.joined[self.starts[-count] :] + b"]"), count
