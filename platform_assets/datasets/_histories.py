"""Whether a series that is loaded again, with its past, is the series that was stored before."""

from collections.abc import Sequence

import pandas as pd

_SAME_VALUE = 1e-3
_ENOUGH_COMPARED = 3


def differs_from_known(now: pd.Series, before: pd.Series) -> pd.Series:
    """True where a figure that was known has another value now."""
    known = before.astype(float)
    return (now.astype(float) - known).abs() > _SAME_VALUE * known.abs() + 1e-9


def flagged_before(stored: pd.DataFrame, check: str) -> pd.Series:
    """True for stored rows that `check` flagged (`quality_flags`): a flagged value cannot confirm itself."""
    return stored["quality_flags"].fillna("").astype(str).str.contains(f'"{check}"', regex=False)


def strays(
    rows: pd.DataFrame, stored: pd.DataFrame, *, key: Sequence[str], columns: Sequence[str], check: str
) -> pd.Series:
    """Returns by row: 1 where a figure is another one than was known, or still the one that `check` flagged;
    0 where all are what was known; null where nothing trusted is known."""
    names = {column: f"{column}_before" for column in columns}
    known = stored.rename(columns=names)[[*key, *names.values(), "quality_flags"]]
    reported = rows[[*key, *columns]].merge(known, how="left", on=list(key)).set_axis(rows.index)
    pairs = [(reported[column], reported[before]) for column, before in names.items()]
    compared = pd.concat([now.notna() & before.notna() for now, before in pairs], axis=1).any(axis=1)
    other = pd.concat([differs_from_known(now, before) for now, before in pairs], axis=1).any(axis=1)
    flagged = flagged_before(reported, check)
    return (other | flagged).astype(float).where(compared & ~(flagged & other))


def mostly_unchanged(
    rows: pd.DataFrame,
    stored: pd.DataFrame,
    *,
    key: Sequence[str],
    columns: Sequence[str],
    series: str,
    check: str,
) -> pd.Series:
    """True for rows of a series of which at least half of the values are those stored before. Otherwise it is
    another series, or in another unit, and its new values are not trusted either; loading it once more does
    not confirm it."""
    stray = strays(rows, stored, key=key, columns=columns, check=check)
    counted = stray.groupby(rows[series]).agg(["count", "mean"])
    strange = counted[(counted["count"] >= _ENOUGH_COMPARED) & (counted["mean"] > 0.5)].index
    return ~rows[series].isin(strange)
