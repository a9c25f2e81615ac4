"""How much work a function over bars is, before it is done: no single text shall keep a server busy."""

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
