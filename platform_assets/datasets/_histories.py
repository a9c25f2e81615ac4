"""Whether a series that is told again, with its past, is the series that was told before."""

from collections.abc import Sequence

import pandas as pd

_SAME_VALUE = 1e-3
_ENOUGH_TOLD = 3


def told_otherwise(now: pd.Series, before: pd.Series) -> pd.Series:
    """Where a figure that was known is another one now."""
    known = before.astype(float)
    return (now.astype(float) - known).abs() > _SAME_VALUE * known.abs() + 1e-9


def flagged_before(stored: pd.DataFrame, check: str) -> pd.Series:
    """Stored rows that `check` has marked (`quality_flags`): what a doubt was about is no proof of itself."""
    return stored["quality_flags"].fillna("").astype(str).str.contains(f'"{check}"', regex=False)


def strays(
    rows: pd.DataFrame, stored: pd.DataFrame, *, key: Sequence[str], columns: Sequence[str], check: str
) -> pd.Series:
    """By row: 1 where a figure is another one than was known, or still the one that `check` doubted; 0 where
    all are what was known; null where nothing trusted is known."""
    names = {column: f"{column}_before" for column in columns}
    known = stored.rename(columns=names)[[*key, *names.values(), "quality_flags"]]
    reported = rows[[*key, *columns]].merge(known, how="left", on=list(key)).set_axis(rows.index)
    pairs = [(reported[column], reported[before]) for column, before in names.items()]
    compared = pd.concat([now.notna() & before.notna() for now, before in pairs], axis=1).any(axis=1)
    other = pd.concat([told_otherwise(now, before) for now, before in pairs], axis=1).any(axis=1)
    flagged = flagged_before(reported, check)
    return (other | flagged).astype(float).where(compared & ~(flagged & other))


def mostly_as_told(
    rows: pd.DataFrame,
    stored: pd.DataFrame,
    *,
    key: Sequence[str],
    columns: Sequence[str],
    series: str,
    check: str,
) -> pd.Series:
    """Of what is told again of a series, at least half is what was told before: else it is another series, or
    in another unit, and nothing of it is to be trusted, new values neither. Told once more it is no truer."""
    stray = strays(rows, stored, key=key, columns=columns, check=check)
    counted = stray.groupby(rows[series]).agg(["count", "mean"])
    strange = counted[(counted["count"] >= _ENOUGH_TOLD) & (counted["mean"] > 0.5)].index
    return ~rows[series].isin(strange)
