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
        zero = dict.fromkeys(_ZERO, 0.0)
        return bars.around(known, newest, lambda some, count: pattern_columns(some, newest=count), zero)
    counts = np.diff(bars.offsets)
    kept = counts if newest is None else np.minimum(counts, newest)
    starts = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    nothing = np.array([0.0 if name in _ZERO else np.nan for name in _COLUMNS])
    found = np.repeat(nothing[:, None], int(starts[-1]), axis=1)
    scan(high, low, close, bars.volume, bars.offsets, starts, THRESHOLDS, found)
    return dict(zip(_COLUMNS, found, strict=True))


def has_row(columns: Mapping[str, Floats]) -> npt.NDArray[np.bool_]:
    """True where the table has a row: any direction, a stage of the duck, or a kind."""
    signs = [columns[name] != 0 for name in DIRECTIONS]
    kinds = [~np.isnan(columns[name]) for name in KIND_NAMES]
    there: npt.NDArray[np.bool_] = np.any([columns["duck_stage"] > 0, *signs, *kinds], axis=0)
    return there


def kind_names(column: str, values: Floats) -> npt.NDArray[np.object_]:
    """The words of a kind column; None where there is no kind. KeyError for a column that is no kind."""
    names = np.full(len(values), None, dtype=object)
    for number, name in KIND_NAMES[column].items():
        names[values == number] = name
    return names
