"""The functions of the formula language, and those that are refused because they look ahead."""

from dataclasses import dataclass

SERIES = {
    **dict.fromkeys(("open", "o"), "open"),
    **dict.fromkeys(("high", "h"), "high"),
    **dict.fromkeys(("low", "l"), "low"),
    **dict.fromkeys(("close", "c"), "close"),
    **dict.fromkeys(("volume", "vol", "v"), "volume"),
    **dict.fromkeys(("amount", "amo"), "amount"),
}
"""Name in lower case -> column of the bars. Volume is in lots of 100 shares, as terminals count it."""


@dataclass(frozen=True)
class Function:
    """`takes` has a letter an argument: x a value, c a condition, w the weight of SMA, n a whole number of
    bars, r the same from 0 on; d and r may also be BARSLAST(...), or that + a whole number.

    `remembers`: the value depends on all bars before it, so it runs some hundred bars ahead.
    """

    takes: str
    text: str
    is_condition: bool = False
    remembers: bool = False


FUNCTIONS = {
    "MA": Function("xn", "mean of the last n bars"),
    "EMA": Function("xn", "exponential mean, weight 2 / (n + 1), from the first value on", remembers=True),
    "SMA": Function(
        "xnw", "exponential mean, weight m / n (m at most n), from the first value on", remembers=True
    ),
    "WMA": Function("xn", "mean with weights n for the newest bar down to 1"),
    "DMA": Function(
        "xx", "exponential mean, weight from 0 to 1; no value on a bar where it is another", remembers=True
    ),
    "REF": Function("xr", "the value n bars before"),
    "HHV": Function("xn", "highest of the last n bars"),
    "LLV": Function("xn", "lowest of the last n bars"),
    "HHVBARS": Function("xn", "bars since the highest of the last n"),
    "LLVBARS": Function("xn", "bars since the lowest of the last n"),
    "SUM": Function("xd", "sum of the last n bars"),
    "COUNT": Function("cd", "bars of the last n on which the condition held"),
    "STD": Function("xn", "sample deviation (n - 1) of the last n bars"),
    "STDP": Function("xn", "population deviation (n) of the last n bars"),
    "AVEDEV": Function("xn", "mean distance from the mean of the last n bars"),
    "SLOPE": Function("xn", "slope per bar of the line through the last n bars"),
    "CROSS": Function("xx", "the first crosses above the second on this bar", is_condition=True),
    "LONGCROSS": Function("xxn", "the same after n bars below", is_condition=True),
    "BARSLAST": Function("c", "bars since the condition last held", remembers=True),
    "BARSLASTCOUNT": Function("c", "bars in a row on which the condition holds", remembers=True),
    "EVERY": Function("cn", "the condition held on each of the last n bars", is_condition=True),
    "EXIST": Function("cn", "the condition held on any of the last n bars", is_condition=True),
    "FILTER": Function("cn", "the condition, without those of the n bars after one", True, True),
    "IF": Function("cxx", "the second where the first holds, else the third"),
    "MAX": Function("xx", "the larger of two"),
    "MIN": Function("xx", "the smaller of two"),
    "ABS": Function("x", "without its sign"),
    "SQRT": Function("x", "square root"),
    "LN": Function("x", "natural logarithm"),
    "POW": Function("xx", "the first to the power of the second"),
    "BETWEEN": Function("xxx", "the first lies between the others, ends included", is_condition=True),
}

LOOK_AHEAD = frozenset({
    "BACKSET", "REFX", "REFXV", "ZIG", "ZIGA", "FLATZIG", "FLATZIGA", "PEAK", "PEAKA", "PEAKBARS",
    "PEAKBARSA", "TROUGH", "TROUGHA", "TROUGHBARS", "TROUGHBARSA", "BARSNEXT", "FFT", "XMA", "CONST",
    "DYNAINFO", "ISLASTBAR", "BARSTATUS", "CURRBARSCOUNT", "TOTALBARSCOUNT", "LASTBAR", "DRAWNULLBACK",
})  # fmt: skip
"""They read bars after the one that they are computed for, or the newest bar on every bar."""
