"""Frames as parsers return them: fixed columns, fixed types, also when there is no row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

# Column name -> 'f' float64 (NaN = missing), 'i' int64, 's' text (None = missing), 'b' bool.
Columns = Mapping[str, str]


def numbers(names: str) -> dict[str, str]:
    """Blank-separated names of float columns."""
    return dict.fromkeys(names.split(), "f")


def texts(names: str) -> dict[str, str]:
    """Blank-separated names of text columns."""
    return dict.fromkeys(names.split(), "s")


_DTYPES: dict[str, Any] = {"f": np.float64, "i": np.int64, "b": np.bool_}


def frame(rows: Sequence[Mapping[str, Any]], columns: Columns) -> pd.DataFrame:
    """Rows as a frame with exactly `columns`, in that order; an absent key is a missing value."""
    data: dict[str, Any] = {}
    for name, kind in columns.items():
        if kind == "s":
            values = [row.get(name) for row in rows]
            data[name] = pd.Series(values, dtype=object)
        else:
            missing = np.nan if kind == "f" else 0
            data[name] = np.array([row.get(name, missing) for row in rows], dtype=_DTYPES[kind])
    return pd.DataFrame(data)


def concat(parts: Sequence[pd.DataFrame], columns: Columns) -> pd.DataFrame:
    """Parts below each other; no part (or only empty ones) is an empty frame with the same columns."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return frame([], columns)
    return pd.concat(filled, ignore_index=True)
