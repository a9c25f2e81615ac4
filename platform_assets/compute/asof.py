"""Look-ups by date: the newest fact of a code that is not after a row's, the index on a bar's. Pure numpy."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats, Ints
from core.market.bars import Bars
from platform_assets.compute.nan_arithmetic import floats

Places = npt.NDArray[np.int64]


def places_on(rows: pd.DataFrame, facts: pd.DataFrame, fact_date: str) -> Places:
    """Returns for each row (code, date) the position in `facts` of the newest fact with the same code and
    `fact_date` <= date, or -1. `facts` must be sorted by (code, fact_date).
    """
    if facts.empty:
        return np.full(len(rows), -1, dtype=np.int64)
    codes = facts["code"].to_numpy(dtype=str)
    # One composite key turns the look-up per code into a single search: ISO dates sort as text.
    keys = np.char.add(np.char.add(codes, " "), facts[fact_date].to_numpy(dtype=str))
    row_codes = rows["code"].to_numpy(dtype=str)
    requested = np.char.add(np.char.add(row_codes, " "), rows["date"].to_numpy(dtype=str))
    at = np.searchsorted(keys, requested, side="right").astype(np.int64) - 1
    found = (at >= 0) & (codes[np.maximum(at, 0)] == row_codes)
    return np.where(found, at, -1)


def value_on(
    rows: pd.DataFrame, facts: pd.DataFrame, column: str, *, fact_date: str = "date"
) -> npt.NDArray[Any]:
    """The fact's value per row as float64; NaN where there is none."""
    ordered = facts.sort_values(["code", fact_date]).reset_index(drop=True)
    at = places_on(rows, ordered, fact_date)
    values = floats(ordered[column]) if len(ordered) else np.array([np.nan])
    return np.where(at >= 0, values[np.maximum(at, 0)], np.nan)


def index_close(bars: Bars, index: tuple[Ints, Floats] | None) -> Floats:
    """[rows] close of the index on each bar's date, NaN where it has none. `index`: dates (yyyymmdd,
    ascending) and closes."""
    if index is None or len(index[0]) == 0:
        return np.full(len(bars), np.nan)
    dates, closes = index
    place = np.minimum(np.searchsorted(dates, bars.date), len(dates) - 1)
    return np.where(dates[place] == bars.date, closes[place], np.nan)
