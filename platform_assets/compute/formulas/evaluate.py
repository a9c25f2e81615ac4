"""A formula over a block of bars [codes, bars].

Conditions are 1, 0, or NaN where an operand is not known; a division by 0, the root of a negative number and
the logarithm of what is not positive are NaN.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from core.arrays import Floats
from platform_assets.compute import series
from platform_assets.compute.formulas import tree
from platform_assets.compute.formulas.bars import constant
from platform_assets.compute.formulas.functions import FUNCTIONS
from platform_assets.compute.three_valued import all_of, any_of, compared, condition, denied, where_known

Block = Mapping[str, Floats]
"""Column (open, high, low, close, volume, amount) -> [codes, bars], the newest bar last, NaN in front."""
CODES_AT_ONCE = 512
"""Codes whose values are held at one time: every name of a formula is kept until its end, and up to a hundred
names of the whole market over a thousand bars would be gigabytes."""


def output_of(formula: tree.Formula) -> Literal["bool", "number"]:
    """'bool' for a selection, 'number' for a value."""
    return "bool" if formula.result.is_condition else "number"


def newest(formula: tree.Formula, block: Block, codes: int) -> Floats:
    """[codes] the result on the newest bar. It reads the `bars` of the result and none before them, whatever
    else the block holds."""
    bars = formula.result.bars
    out = np.empty(codes)
    with np.errstate(all="ignore"):
        # Every function runs along the bars of one code, so some codes at a time say the same as all at once.
        for start in range(0, codes, CODES_AT_ONCE):
            end = min(start + CODES_AT_ONCE, codes)
            some = {name: series.newest(held[start:end], bars) for name, held in block.items()}
            out[start:end] = along(formula, some, (end - start, bars))[:, -1]
    return out


def along(formula: tree.Formula, block: Block, shape: tuple[int, ...]) -> Floats:
    """The result on every bar of the block, whose arrays have `shape`."""
    return _Evaluation(formula, block, shape).of(formula.result.value)


class _Evaluation:
    def __init__(self, formula: tree.Formula, block: Block, shape: tuple[int, ...]) -> None:
        self._variables = formula.variables
        self._known: dict[str, Floats] = {}
        self._block = block
        self._shape = shape

    def of(self, node: tree.Node) -> Floats:  # noqa: PLR0911  one arm a kind of node
        match node:
            case tree.Number():
                return np.full(self._shape, node.value)
            case tree.Series():
                return self._block[node.column]
            case tree.Variable():
                if node.name not in self._known:
                    self._known[node.name] = self.of(self._variables[node.name].value)
                return self._known[node.name]
            case tree.Unary(sign="-"):
                return -self.of(node.operand)
            case tree.Unary():
                return denied(condition(self.of(node.operand)))
            case tree.Binary(sign="and"):
                return all_of([condition(self.of(one)) for one in (node.left, node.right)])
            case tree.Binary(sign="or"):
                return any_of([condition(self.of(one)) for one in (node.left, node.right)])
            case tree.Binary() if node.sign in _ARITHMETIC:
                return _ARITHMETIC[node.sign](self.of(node.left), self.of(node.right))
            case tree.Binary():
                return compared(node.sign, self.of(node.left), self.of(node.right))
            case tree.Call():
                return self._call(node)

    def _call(self, call: tree.Call) -> Floats:
        arguments: list[Any] = []
        for kind, argument in zip(FUNCTIONS[call.function].takes, call.arguments, strict=True):
            value = None if kind in "xc" else constant(argument, self._variables)
            if value is not None:
                arguments.append(int(value))
            else:
                arguments.append(condition(self.of(argument)) if kind == "c" else self.of(argument))
        return _CALLS[call.function](*arguments)


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _ref(x: Floats, bars: int | Floats) -> Floats:
    if isinstance(bars, int):
        return series.ref(x, bars)
    place = np.arange(x.shape[-1]) - bars
    there = place >= 0
    taken = np.take_along_axis(x, np.where(there, place, 0).astype(np.int64), axis=-1)
    return np.where(there, taken, np.nan)


def _sum(x: Floats, bars: int | Floats) -> Floats:
    """Sums over a number of bars that changes by bar; 0 bars sum up to 0."""
    if isinstance(bars, int):
        return series.sum_(x, bars)
    known = np.where(np.isnan(x), 0.0, x).cumsum(axis=-1)
    gaps = np.isnan(x).cumsum(axis=-1)
    is_empty = bars == 0
    before, gaps_before = _before(known, bars), _before(gaps.astype(np.float64), bars)
    out = np.where(gaps == gaps_before, known - before, np.nan)
    return np.where(np.isnan(bars), np.nan, np.where(is_empty, 0.0, out))


def _before(running: Floats, bars: Floats) -> Floats:
    """A running total as it was `bars` bars ago: 0 at the first bar, NaN before."""
    return np.where(np.arange(running.shape[-1]) - bars == -1, 0.0, _ref(running, bars))


def _dma(x: Floats, weight: Floats) -> Floats:
    """A weight outside of 0 to 1 would throw the mean further from every value: it is none."""
    return series.dma(x, np.where((weight >= 0) & (weight <= 1), weight, np.nan))


def _cross(a: Floats, b: Floats) -> Floats:
    return where_known(series.cross(a, b), a, b, series.ref(a, 1), series.ref(b, 1))


def _longcross(a: Floats, b: Floats, bars: int) -> Floats:
    there = series.ref(series.sum_(a + b, bars), 1)
    return where_known(series.longcross(a, b, bars), a, b, there)


def _filter(held: Floats, bars: int) -> Floats:
    return where_known(series.filter_(held, bars), held)


def _if(held: Floats, yes: Floats, no: Floats) -> Floats:
    return np.where(np.isnan(held), np.nan, np.where(held == 1, yes, no))


def _between(x: Floats, a: Floats, b: Floats) -> Floats:
    return where_known((x >= np.minimum(a, b)) & (x <= np.maximum(a, b)), x, a, b)


_ARITHMETIC: dict[str, Callable[[Floats, Floats], Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": lambda a, b: _finite(a / b),
}
_OF_SERIES = (
    "MA", "EMA", "SMA", "WMA", "HHV", "LLV", "HHVBARS", "LLVBARS", "STD", "STDP", "AVEDEV", "SLOPE",
    "BARSLAST", "BARSLASTCOUNT", "EVERY", "EXIST",
)  # fmt: skip
_CALLS: dict[str, Callable[..., Floats]] = {
    **{name: getattr(series, name.lower()) for name in _OF_SERIES},
    "DMA": _dma,
    "REF": _ref,
    "SUM": _sum,
    "COUNT": _sum,
    "CROSS": _cross,
    "LONGCROSS": _longcross,
    "FILTER": _filter,
    "IF": _if,
    "MAX": np.maximum,
    "MIN": np.minimum,
    "ABS": np.abs,
    "SQRT": lambda x: _finite(np.sqrt(x)),
    "LN": lambda x: _finite(np.log(x)),
    "POW": lambda a, b: _finite(np.power(a, b)),
    "BETWEEN": _between,
}
assert set(_CALLS) == set(FUNCTIONS)  # noqa: S101
