"""Bars of one code: adjustment on read, and their bytes.

Bars are stored unadjusted beside a cumulative backward factor. hfq = raw x factor; qfq divides by the
factor of the newest bar known, so that the newest bar shows the traded price. Only OHLC is adjusted:
volume and amount are unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    if adjust == "none" or not bars or (adjust == "qfq" and _is_constant([bar[-1] for bar in bars])):
        return [1.0] * len(bars)
    factors = known_factors(bars)
    base = factors[-1] if adjust == "qfq" else 1.0
    return [factor / base for factor in factors]


def _is_constant(factors: Sequence[float | None]) -> bool:
    """Whether no dividend fell between the bars, which is so of most charts."""
    return factors[0] is not None and factors.count(factors[0]) == len(factors)


def adjusted(bars: Sequence[Bar], adjust: str) -> list[dict[str, Any]]:
    """KBar objects of `bars` (oldest first)."""
    factors = ratios(bars, adjust)
    scaled = bars
    if factors.count(1.0) < len(factors):
        scaled = [
            bar if ratio == 1.0 else _scaled(bar, ratio) for bar, ratio in zip(bars, factors, strict=True)
        ]
    return [
        {
            "date": day, "open": opened, "close": close, "high": high, "low": low, "volume": volume,
            "amount": amount,
        }
        for day, opened, close, high, low, volume, amount, _ in scaled
    ]  # fmt: skip


def _scaled(bar: Bar, ratio: float) -> Bar:
    opened, close, high, low = (
        None if raw is None else round(raw * ratio, PRICE_DECIMALS) for raw in bar[1:5]
    )
    return bar._replace(open=opened, close=close, high=high, low=low)


@dataclass(frozen=True)
class EncodedBars:
    """KBar objects of one code as JSON, oldest first, joined by commas. `is_whole`: the warehouse has no
    older ones. `first`: (date of the first stored row or None,), where it was read with them."""

    joined: bytes
    count: int
    is_whole: bool
    first: tuple[str | None] | None = None

    @classmethod
    def encode(
        cls, rows: Sequence[dict[str, Any]], *, is_whole: bool, first: tuple[str | None] | None = None
    ) -> "EncodedBars":
        return cls(orjson.dumps(rows)[1:-1], len(rows), is_whole, first)

    @property
    def size(self) -> int:
        return len(self.joined) + 200

    def holds(self, days: int) -> bool:
        return self.is_whole or self.count >= days

    def last(self, days: int) -> tuple[orjson.Fragment, int]:
        """The JSON array of the newest `days` bars, and their number."""
        count = min(days, self.count)
        if count == 0:
            return orjson.Fragment(b"[]"), 0
        return orjson.Fragment(b"[" + self.joined[self._start(count) :] + b"]"), count

    def _start(self, count: int) -> int:
        """Where the newest `count` bars begin. No text in a bar contains a brace, so what is looked for only
        occurs between two of them; from the end that is nearer."""
        older = self.count - count
        if older <= count:
            start = 0
            for _ in range(older):
                start = self.joined.index(_BETWEEN, start) + len(_BETWEEN) - 1
            return start
        end = len(self.joined)
        for _ in range(count):
            end = self.joined.rindex(_BETWEEN, 0, end)
        return end + len(_BETWEEN) - 1
