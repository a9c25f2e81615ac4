"""Frames of declared columns: one coercion in, one conversion to rows out.

Frame dtypes: text, dates, times and JSON `object` (str or None; ISO text), numbers float64, counts
Int64, flags boolean. The same `coerce` runs after a parser and after a database read, so that values
compare exactly whichever way they came.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from platform_assets.declaration.columns import ColumnSpec

MAX_EXACT_INT = 2**53
"""Whole numbers pass through float64 during fusion; beyond this they would lose digits."""

Bools = npt.NDArray[np.bool_]


def empty_frame(columns: Iterable[ColumnSpec]) -> pd.DataFrame:
    return coerce(pd.DataFrame({spec.name: [] for spec in columns}), tuple(columns))[0]


def _as_text(values: pd.Series) -> pd.Series:
    data = values.astype(object)
    return data.where(data.notna(), None)


def coerce(frame: pd.DataFrame, columns: Sequence[ColumnSpec]) -> tuple[pd.DataFrame, dict[str, Bools]]:
    """(frame with exactly `columns`, {column: mask of values that were destroyed}).

    A missing column becomes all null. A value that is present but no number (or infinite) becomes null
    and is marked: the caller treats a mark as a hard failure of that value. -0.0 becomes 0.0.
    """
    out: dict[str, pd.Series] = {}
    destroyed: dict[str, Bools] = {}
    for spec in columns:
        if spec.name not in frame.columns:
            out[spec.name] = pd.Series([None] * len(frame), index=frame.index, dtype=object)
            if spec.family in ("float", "int", "bool"):
                out[spec.name] = _numbers(out[spec.name], spec)[0]
            continue
        values = frame[spec.name]
        if spec.family in ("float", "int", "bool"):
            out[spec.name], lost = _numbers(values, spec)
            if lost.any():
                destroyed[spec.name] = lost
        else:
            out[spec.name] = _as_text(values)
    return pd.DataFrame(out, index=frame.index), destroyed


def _numbers(values: pd.Series, spec: ColumnSpec) -> tuple[pd.Series, Bools]:
    given = values.notna().to_numpy()
    numbers = (
        pd.to_numeric(values, errors="coerce").astype("Float64").to_numpy(dtype="float64", na_value=np.nan)
    )
    numbers = np.where(np.isinf(numbers), np.nan, numbers)
    lost: Bools = given & np.isnan(numbers)
    if spec.family == "float":
        if spec.word.scale is not None:
            numbers = np.round(numbers, spec.word.scale)
        return pd.Series(numbers + 0.0, index=values.index), lost
    whole = np.round(numbers)
    too_big = np.abs(whole) > MAX_EXACT_INT
    lost = lost | too_big
    whole = np.where(too_big, np.nan, whole)
    target = "boolean" if spec.family == "bool" else "Int64"
    series = pd.Series(whole, index=values.index).astype("Float64")
    series = series.mask(pd.isna(whole))
    return series.astype(target), lost


def rows(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Plain Python tuples for a driver: str, int, float, None. A numpy scalar given to SQLite would be
    stored as a BLOB without a word, so none ever leaves this function."""
    columns = []
    for name in names:
        values = frame[name]
        missing = values.isna().to_numpy()
        if str(values.dtype) == "boolean":
            plain: list[Any] = values.astype("Int64").astype(object).tolist()
        elif str(values.dtype) in ("Int64", "int64"):
            plain = values.astype(object).tolist()
        else:
            plain = values.tolist()
        if missing.any():
            plain = [None if gone else value for value, gone in zip(plain, missing, strict=True)]
        columns.append(plain)
    return list(zip(*columns, strict=True)) if columns else []


def canonical_json(value: Any) -> str:
    """Sorted keys, no blanks: JSON is stored and compared as text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
