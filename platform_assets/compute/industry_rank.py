"""Industries of one level on one date: ranks, quadrants of rotation, rotation score. Pure pandas."""

import numpy as np
import pandas as pd

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import divided, floats, weighted_mean
from platform_assets.compute.parameters import rotation as own

_CNY_PER_YI = 1e8


def rank_by_change(changes: pd.Series) -> pd.Series:
    """1 for the largest change; equal ones in the order of the rows; null without one."""
    return changes.astype(float).rank(ascending=False, method="first")


def compounded(changes: Floats) -> Floats:
    """[dates, industries] changes in percent -> the change over all of them; NaN where one is missing."""
    whole: Floats = (np.prod(1 + changes / 100, axis=0) - 1) * 100
    return whole


def with_rotation(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds `quadrant` and `rotation_score` to the industries of one level on one date.

    Needs chg_5d, chg_20d (percent), main_net (CNY), amount_yi. Strength is chg_20d less the level's median,
    momentum the same of chg_5d. The score (0..100) is the weighted mean of the ranks that are known.
    """
    reported = {
        "strength": floats(rows["chg_20d"]),
        "momentum": floats(rows["chg_5d"]),
        "flow": divided(floats(rows["main_net"]), floats(rows["amount_yi"]) * _CNY_PER_YI),
    }
    parts = np.vstack([_rank_pct(reported[name]) for name in own.WEIGHTS])
    score, _ = weighted_mean(parts, list(own.WEIGHTS.values()))
    return rows.assign(
        rotation_score=score, quadrant=_quadrants(_above(reported["strength"]), _above(reported["momentum"]))
    )


def _quadrants(strength: Floats, momentum: Floats) -> list[str | None]:
    names = {
        (True, True): own.LEADING,
        (False, True): own.IMPROVING,
        (True, False): own.WEAKENING,
        (False, False): own.LAGGING,
    }
    return [
        None if np.isnan(strong) or np.isnan(moving) else names[(strong >= 0, moving >= 0)]
        for strong, moving in zip(strength.tolist(), momentum.tolist(), strict=True)
    ]


def _above(values: Floats) -> Floats:
    known = values[~np.isnan(values)]
    return values - np.median(known) if known.size else values


def _rank_pct(values: Floats) -> Floats:
    """0 for the smallest, 100 for the largest; 50 where there is only one."""
    known = ~np.isnan(values)
    count = int(known.sum())
    ranks = pd.Series(values).rank(method="average").to_numpy()
    if count == 1:
        return np.where(known, 50.0, np.nan)
    return np.where(known, (ranks - 1) / max(1, count - 1) * 100, np.nan)


def of_members(members: pd.DataFrame) -> pd.DataFrame:
    """Rows of stocks (industry_code, code, name, change_pct, main_net, limit_up_count) -> a row per industry:
    up_count, down_count, limit_up_count, main_net, leader_code, leader_name, leader_change_pct. Counts are
    null where no change is known."""
    change = members["change_pct"].astype(float)
    rose, fell = ((side * change > 0).astype(float).where(change.notna()) for side in (1, -1))
    marked = members.assign(change_pct=change, rose=rose, fell=fell)
    grouped = marked.groupby("industry_code")
    sums = pd.DataFrame(
        {
            "up_count": grouped["rose"].sum(min_count=1),
            "down_count": grouped["fell"].sum(min_count=1),
            "limit_up_count": grouped["limit_up_count"].sum(min_count=1),
            "main_net": grouped["main_net"].sum(min_count=1),
        }
    )
    best = marked[change.notna()].sort_values(["change_pct", "code"], ascending=[False, True])
    leaders = best.drop_duplicates("industry_code").set_index("industry_code")
    for name, column in (
        ("leader_code", "code"),
        ("leader_name", "name"),
        ("leader_change_pct", "change_pct"),
    ):
        sums[name] = leaders[column].reindex(sums.index)
    return sums.reset_index()
