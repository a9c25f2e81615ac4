"""Columns of the pattern table from ragged bars."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.market.bars import Bars
from platform_assets.compute.parameters.patterns import DIRECTIONS, KIND_NAMES, METRICS, THRESHOLDS

_COLUMNS = (*DIRECTIONS, *METRICS)
_ZERO = (*DIRECTIONS, "duck_stage")
"""What is 0 where there is nothing; every other column is NaN then."""


def pattern_columns(bars: Bars, *, newest: int | None = None) -> dict[str, Floats]:
    """The 16 directions (100, -100, 0) and the 9 metrics (NaN where there is none; kinds as numbers, see
    `kind_names`) of every row, or of the last `newest` rows of each code in the order of
    `bars.newest(newest)`.

    A bar without a price or volume counts as none. A row depends on the bars of its code up to its own date
    alone.
    """
    from platform_assets.compute.patterns.scan import scan  # noqa: PLC0415  loads numba

    high, low, close = (bars.adjusted(name) for name in ("high", "low", "close"))
    known = np.isfinite(high) & np.isfinite(low) & np.isfinite(close) & np.isfinite(bars.volume)
    if not known.all():
        nothing = dict.fromkeys(_ZERO, 0.0)
        return bars.around(known, newest, lambda some, count: pattern_columns(some, newest=count), nothing)
    counts = np.diff(bars.offsets)
    kept = counts if newest is None else np.minimum(counts, newest)
    starts = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    found = np.full((len(_COLUMNS), int(starts[-1])), np.nan)
    for at, name in enumerate(_COLUMNS):
        if name in _ZERO:
            found[at] = 0.0
    scan(high, low, close, bars.volume, bars.offsets, starts, THRESHOLDS, found)
    return dict(zip(_COLUMNS, found, strict=True))


def has_row(columns: Mapping[str, Floats]) -> npt.NDArray[np.bool_]:
    """True where the table has a row: any direction, a stage of the duck, or a kind."""
    there = columns["duck_stage"] > 0
    for name in DIRECTIONS:
        there = there | (columns[name] != 0)
    for name in KIND_NAMES:
        there = there | ~np.isnan(columns[name])
    return there


def kind_names(column: str, values: Floats) -> npt.NDArray[np.object_]:
    """The words of a kind column; None where there is no kind. KeyError for a column that is no kind."""
    names = np.full(len(values), None, dtype=object)
    for number, name in KIND_NAMES[column].items():
        names[values == number] = name
    return names
