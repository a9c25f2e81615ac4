"""Conditions that may be unknown: float arrays with 1 true, 0 false and NaN unknown."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats

_SIGNS: dict[str, Callable[[Floats, Floats], Any]] = {
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
    "=": np.equal,
    "!=": np.not_equal,
    "<>": np.not_equal,
}


def condition(values: npt.NDArray[Any]) -> Floats:
    """A condition of numbers or flags: true where they are not 0, unknown where they are NaN."""
    if values.dtype == np.bool_:
        return values.astype(np.float64)
    return np.where(np.isnan(values), np.nan, (values != 0).astype(np.float64))


def where_known(held: npt.ArrayLike, *operands: Floats) -> Floats:
    """The condition, unknown where an operand is."""
    out = np.asarray(held, dtype=np.float64)
    for one in operands:
        out = np.where(np.isnan(one), np.nan, out)
    return out


def compared(sign: str, left: Floats, right: Floats) -> Floats:
    """`sign` is one of > >= < <= = != <>."""
    return where_known(_SIGNS[sign](left, right), left, right)


def all_of(conditions: Sequence[Floats]) -> Floats:
    """False if one is false; else unknown if one is."""
    held = conditions[0]
    for one in conditions[1:]:
        held = np.where((held == 0) | (one == 0), 0.0, held * one)
    return held


def any_of(conditions: Sequence[Floats]) -> Floats:
    """True if one is true; else unknown if one is."""
    return denied(all_of([denied(one) for one in conditions]))


def denied(held: Floats) -> Floats:
    return 1 - held
