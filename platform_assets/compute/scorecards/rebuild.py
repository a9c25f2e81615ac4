"""A board that is made again: settled picks stay as they are, the rest is what is found now."""

import pandas as pd

from platform_assets.compute.scorecards.forward import PENDING


def is_settled(rows: pd.DataFrame) -> pd.Series:
    """Which stored picks may not change any more."""
    settled: pd.Series = rows["status"].ne(PENDING)
    return settled


def rebuilt(found: pd.DataFrame, stored: pd.DataFrame, group: str) -> pd.DataFrame:
    """Picks of one date by `group`. A group without a settled pick is as it was `found`. Of another the
    settled ones are kept, and each pending one gives its rank to one of those found, best first: no pick is
    added to a board whose outcome is known already."""
    settled = stored[is_settled(stored)] if len(stored) else stored
    if settled.empty:
        return found
    made = [settled]
    for key, rows in found.groupby(group, sort=True):
        own = settled[settled[group] == key]
        if own.empty:
            made.append(rows)
            continue
        pending = stored[(stored[group] == key) & ~is_settled(stored)]
        free = sorted(pending["rank_no"].astype(int))
        others = rows[~rows["code"].isin(own["code"])].sort_values("rank_no").head(len(free))
        made.append(others.assign(rank_no=free[: len(others)]))
    return pd.concat(made, ignore_index=True)
