"""What the terminal's records say, and which source's events of an ex-date count, where several report it."""

import hashlib

import numpy as np
import pandas as pd

from core.declaration.scope import Context
from platform_assets.compute.exright import PRICE_EVENTS, TERMS, bonus_of_split

ORDER = ("tdx", "eastmoney", "tencent")
VALUES = (*TERMS, "float_before", "total_before", "float_after", "total_after")
BETTER_SOURCE = "better_source"
"""Why such an event is held back, though it failed no check."""
_KEY = ("code", "date", "category", "row_key")
_FLAGS = "_flags"
_IMPORTED = "import:"
_BOTH_REPORT = ("cash_per10", "bonus_per10")
_SAME_AMOUNT = 0.01
"""Share of an amount by which two sources may differ: decimals of the cash, treasury shares."""


def as_events(records: pd.DataFrame) -> pd.DataFrame:
    """Records of the terminal, by request or by file (`corporate.XDXR_SCHEMA`), as events: code, date,
    category, name, `VALUES`, row_key."""
    out = pd.DataFrame(records[["code", "date", "category", "name"]])
    for column in VALUES:
        out[column] = records[column] if column in records.columns else np.nan
    out["row_key"] = [
        hashlib.sha1("|".join(repr(v) for v in values).encode()).hexdigest()[:16]  # noqa: S324  a row key
        for values in records[["f1", "f2", "f3", "f4"]].itertuples(index=False)
    ]
    splits = records["category"] == 11
    if splits.any():
        given = bonus_of_split(records["consolidation_ratio"].to_numpy(dtype=float))
        out["bonus_per10"] = out["bonus_per10"].where(~splits, pd.Series(given, index=out.index))
    return out


def _rank(source: str) -> float:
    """Place of a source: the publisher's file of records, imported, holds what the terminal answers."""
    return 0.5 if source.startswith(_IMPORTED) else float(ORDER.index(source))


def only_the_best_source(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Holds back the events of a code and date that a better source has events of, stored ones included. That
    the other one says the same is no finding; where it does not, it is marked as a conflict of sources."""
    moving = rows[rows["category"].isin(PRICE_EVENTS)]
    if moving.empty:
        return rows
    names = [name for name in rows.columns if name != _FLAGS]
    codes = tuple(sorted(set(moving["code"])))
    stored = context.read("ref_exright", columns=tuple(names), codes=codes, since=str(moving["date"].min()))
    stored = stored[stored["category"].isin(PRICE_EVENTS)]
    if not set(stored["src"]) | set(rows["src"]) > {ORDER[0]}:
        return rows
    on_date = pd.MultiIndex.from_frame(moving[["code", "date"]])
    stored = stored[pd.MultiIndex.from_frame(stored[["code", "date"]]).isin(on_date)]
    new = pd.MultiIndex.from_frame(rows[list(_KEY)])
    stored = stored[~pd.MultiIndex.from_frame(stored[list(_KEY)]).isin(new)]
    known = pd.concat([rows, stored.assign(**{_FLAGS: [[] for _ in range(len(stored))]})], ignore_index=True)
    moves = known["category"].isin(PRICE_EVENTS)
    rank = known["src"].map({name: _rank(name) for name in known["src"].unique()}).where(moves)
    best = rank.groupby([known["code"], known["date"]]).transform("min")
    outdone = rank > best
    known["held_back"] = known["held_back"].mask(outdone & known["held_back"].isna(), BETTER_SOURCE)
    known["factor"] = known["factor"].mask(outdone)
    _mark_conflicts(known, outdone, rank == best)
    # Stored rows that stay as they are were looked at, not loaded.
    return known[(known.index < len(rows)) | outdone].reset_index(drop=True)


def _mark_conflicts(known: pd.DataFrame, outdone: pd.Series, best: pd.Series) -> None:
    """Flags of the outdone events whose amounts are not those of the better source, all of a date together:
    two of one source may be one of another."""
    by_date = [known["code"], known["date"]]
    for column in _BOTH_REPORT:
        amounts = known[column].astype(float).fillna(0.0)
        counted = amounts.where(best, 0.0).groupby(by_date).transform("sum")
        own = amounts.where(outdone).groupby([*by_date, known["src"]]).transform("sum")
        differs = outdone & ((own - counted).abs() > _SAME_AMOUNT * np.maximum(own.abs(), counted.abs()))
        for place in known.index[differs]:
            known.at[place, _FLAGS] = [*known.at[place, _FLAGS], f"source_conflict:{column}"]
