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

from core.arrays import Bools
from core.declaration.columns import ColumnSpec

MAX_EXACT_INT = 2**53
"""Whole numbers pass through float64 during fusion; beyond this they would lose digits."""


def empty_frame(columns: Iterable[ColumnSpec]) -> pd.DataFrame:
    return coerce(pd.DataFrame({spec.name: [] for spec in columns}), tuple(columns))[0]


def stacked(parts: Iterable[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """The rows of all parts, one below the other; an empty frame of `columns` where no part has a row."""
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def _as_text(values: pd.Series) -> pd.Series:
    data = values.to_numpy(dtype=object)
    missing = pd.isna(data)
    if missing.any():
        data = np.where(missing, None, data)
    return pd.Series(data, index=values.index, dtype=object)


def coerce(frame: pd.DataFrame, columns: Sequence[ColumnSpec]) -> tuple[pd.DataFrame, dict[str, Bools]]:
    """(frame with exactly `columns`, {column: mask of values that were destroyed}).

    A missing column becomes all null. A value that is present but no number (or infinite) becomes null
    and is marked: the caller treats a mark as a hard failure of that value. -0.0 becomes 0.0.
    """
    out: dict[str, pd.Series] = {}
    destroyed: dict[str, Bools] = {}
    for spec in columns:
        if spec.name not in frame.columns:
            out[spec.name] = _missing(spec, frame.index)
            continue
        values = frame[spec.name]
        if spec.family in ("float", "int", "bool"):
            out[spec.name], lost = _numbers(values, spec)
            if lost.any():
                destroyed[spec.name] = lost
        else:
            out[spec.name] = _as_text(values)
    return pd.DataFrame(out, index=frame.index), destroyed


def _missing(spec: ColumnSpec, index: pd.Index) -> pd.Series:
    if spec.family in ("float", "int", "bool"):
        return _numbers(pd.Series(np.full(len(index), np.nan), index=index), spec)[0]
    return pd.Series(np.full(len(index), None, dtype=object), index=index)


def _floats(values: pd.Series) -> npt.NDArray[np.float64]:
    """Numbers as they are, text read as numbers; what is none becomes NaN."""
    if values.dtype != np.float64:
        values = pd.to_numeric(values, errors="coerce")
    if values.dtype == object:
        values = values.astype("Float64")
    numbers: npt.NDArray[np.float64] = values.to_numpy(dtype="float64", na_value=np.nan)
    return np.where(np.isinf(numbers), np.nan, numbers)


def _numbers(values: pd.Series, spec: ColumnSpec) -> tuple[pd.Series, Bools]:
    numbers = _floats(values)
    unknown = np.isnan(numbers)
    lost: Bools = values.notna().to_numpy() & unknown
    if spec.family == "float":
        if spec.scale is not None:
            numbers = np.round(numbers, spec.scale)
        return pd.Series(numbers + 0.0, index=values.index), lost
    whole = np.round(numbers)
    too_big: Bools = np.abs(whole) > MAX_EXACT_INT
    lost = lost | too_big
    unknown = unknown | too_big
    plain = np.where(unknown, 0, whole).astype(np.int64)
    if spec.family == "bool":
        return pd.Series(pd.arrays.BooleanArray(plain.astype(bool), unknown), index=values.index), lost
    return pd.Series(pd.arrays.IntegerArray(plain, unknown), index=values.index), lost


def rows(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Plain Python tuples for a driver: str, int, float, None. A numpy scalar given to SQLite would be
    stored as a BLOB without an error, so none ever leaves this function."""
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
