"""A board that is made again: settled picks stay as they are, the rest is what is found now."""

import pandas as pd

from platform_assets.compute.parameters.scorecards import BOARD_SIZE
from platform_assets.compute.scorecards.forward import PENDING


def is_settled(rows: pd.DataFrame) -> pd.Series:
    """Which stored picks may not change any more."""
    settled: pd.Series = rows["status"].ne(PENDING)
    return settled


def rebuilt(found: pd.DataFrame, stored: pd.DataFrame, group: str, size: int = BOARD_SIZE) -> pd.DataFrame:
    """Picks of one date by `group`: stored settled ones, and of those `found` (by rank) as many others as
    there is room for, at the ranks that are free."""
    settled = stored[is_settled(stored)] if len(stored) else stored
    if settled.empty:
        return found
    made = [settled]
    for key, rows in found.groupby(group, sort=True):
        own = settled[settled[group] == key]
        free = [rank for rank in range(1, size + 1) if rank not in set(own["rank_no"].astype(int))]
        others = rows[~rows["code"].isin(own["code"])].sort_values("rank_no")
        others = others.head(min(len(free), max(size - len(own), 0)))
        made.append(others.assign(rank_no=free[: len(others)]))
    return pd.concat(made, ignore_index=True)
