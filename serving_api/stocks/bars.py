"""Bars of one code, adjusted on read.

Bars are stored unadjusted beside a cumulative backward factor. hfq = raw x factor; qfq divides by the
factor of the newest bar known, so that the newest bar shows the traded price. Only OHLC is adjusted:
volume and amount are unchanged.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from platform_assets.compute.chart_lines import chart_lines, rounded
from platform_assets.compute.nan_arithmetic import filled_factor

PRICE_DECIMALS = 4
_DRAWN = ("high", "low", "close")


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


def lines_of(bars: Sequence[Mapping[str, Any]], count: int) -> dict[str, list[float | None]]:
    """The lines of a chart of adjusted bars, for the newest `count` of them."""
    high, low, close = (np.array([bar[name] for bar in bars], dtype=np.float64) for name in _DRAWN)
    return {name: rounded(values[-count:]) for name, values in chart_lines(high, low, close).items()}


def _scaled(bar: Bar, ratio: float) -> Bar:
    opened, close, high, low = (
        None if raw is None else round(raw * ratio, PRICE_DECIMALS) for raw in bar[1:5]
    )
    return bar._replace(open=opened, close=close, high=high, low=low)
