"""How much work a function over bars is, before it is done: no single text shall keep a server busy."""

from platform_assets.compute.parameters.screener import (
    MEMORY_BARS,
    RECURSION_BARS,
    RECURSION_MOST,
    RECURSION_PERIODS,
)

_WINDOWS = frozenset({"ma", "hhv", "llv", "sum", "count", "every", "exist"})
_WIDE_WINDOWS = frozenset({"std", "stdp", "slope", "wma", "hhvbars", "llvbars", "longcross"})
_RECURSIONS = frozenset({"ema", "sma", "dma", "filter"})


def steps(function: str, period: int) -> int:
    """Passes over the values of one bar of all stocks, about; `function` in lower case."""
    if function == "avedev":
        return 3 * period
    if function in _WINDOWS:
        return 3 * period.bit_length()
    if function in _WIDE_WINDOWS:
        return 9 * period.bit_length()
    return 14 if function in _RECURSIONS else 5


def recursion_bars(period: float) -> int:
    """Bars that a recursive mean of a period starts before its value, as a part of `remembered`."""
    return max(RECURSION_BARS, int(RECURSION_PERIODS * period))


def memory_bars(period: int = 0) -> int:
    """Bars that something that waits for a condition starts before its value."""
    return max(MEMORY_BARS, period)


def remembered(inner: int, before: int) -> int:
    """Bars behind a value with a memory of `before` bars of something that itself needs `inner`."""
    return max(inner, min(inner - 1 + before, RECURSION_MOST))
