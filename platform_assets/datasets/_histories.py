"""Whether a series that is told again, with its past, is the series that was told before."""

from collections.abc import Sequence

import pandas as pd

_SAME_VALUE = 1e-3
_ENOUGH_TOLD = 3


def told_otherwise(now: pd.Series, before: pd.Series) -> pd.Series:
    """Where a figure that was known is another one now."""
    known = before.astype(float)
    return (now.astype(float) - known).abs() > _SAME_VALUE * known.abs() + 1e-9


def mostly_as_told(
    rows: pd.DataFrame, stored: pd.DataFrame, *, key: Sequence[str], column: str, series: str
) -> pd.Series:
    """Of what is told again of a series, at least half is what was told before: else it is another series, or
    in another unit, and nothing of it is to be trusted, new values neither."""
    before = f"{column}_before"
    wanted = list(dict.fromkeys((*key, series, column)))
    told = rows[wanted].merge(stored.rename(columns={column: before}), how="left", on=list(key))
    told = told[told[before].notna() & told[column].notna()]
    moved = told_otherwise(told[column], told[before])
    counted = moved.groupby(told[series]).agg(["size", "mean"])
    strange = counted[(counted["size"] >= _ENOUGH_TOLD) & (counted["mean"] > 0.5)].index
    return ~rows[series].isin(strange)
