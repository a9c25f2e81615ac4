"""The leader score of a date's limit-ups: five dimensions of twenty points each. Pure pandas.

A part whose input is not known drops out, and what is known of its dimension is scaled up; a dimension of
which nothing is known drops out of the total in the same way. `coverage` is the share of the points that
could be judged.
"""

from collections.abc import Mapping, Set

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import divided, floats, weighted_mean
from platform_assets.compute.parameters import dragon as own

Part = tuple[float, Floats]
"""(points, share of them 0..1 or NaN)."""
_YI = 1e8


def score_leaders(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds score_height .. score_structure, total_score, coverage, rank_no and grade.

    Needs code, sealed (at the limit on the date), boards (streak on the date, 0 unless sealed), seal_fund and
    float_cap (CNY), first_seal (HH:MM:SS), breaks, theme_count (limit-ups of its theme), theme_highest,
    theme_first (1, 0), net_ratio (net purchases of the billboard / turnover), amount (CNY), turnover_pct,
    ups_20d, broken_5d. A stock that is no longer at the limit has no points for its seal.
    """
    sealed = rows["sealed"].to_numpy(dtype=bool)
    cap = floats(rows["float_cap"])
    parts = {
        "height": [(own.DIMENSION, _height(floats(rows["boards"])))],
        "seal": [
            (own.SEAL_FUND, _held(sealed, _clipped(divided(floats(rows["seal_fund"]), cap) / own.FULL_SEAL))),
            (own.SEAL_TIME, _held(sealed, _seal_times(rows["first_seal"]))),
            (own.SEAL_BREAKS, _held(sealed, 1 - _clipped(floats(rows["breaks"]) / own.MOST_BREAKS))),
        ],
        "theme": [
            (own.THEME_SIZE, _clipped(floats(rows["theme_count"]) / own.FULL_THEME)),
            (own.THEME_HIGHEST, floats(rows["theme_highest"])),
            (own.THEME_FIRST, floats(rows["theme_first"])),
        ],
        "capital": [
            (own.CAPITAL_NET, _clipped(floats(rows["net_ratio"]) / own.FULL_NET)),
            (own.CAPITAL_AMOUNT, floats(rows["amount"].astype(float).rank(pct=True))),
            (own.CAPITAL_TURNOVER, _turnover(floats(rows["turnover_pct"]))),
        ],
        "structure": [
            (own.STRUCTURE_CAP, _cap(cap / _YI)),
            (own.STRUCTURE_GENE, _clipped(floats(rows["ups_20d"]) / own.FULL_GENE)),
            (own.STRUCTURE_HELD, _none_of(floats(rows["broken_5d"]))),
        ],
    }
    scored = {name: _dimension(some) for name, some in parts.items()}
    points = np.vstack([scored[name][0] for name in own.DIMENSIONS])
    total = weighted_mean(points, np.ones(len(points)))[0] / own.DIMENSION * 100
    covered = np.vstack([scored[name][1] for name in own.DIMENSIONS]).sum(axis=0)
    reported = rows.assign(
        **{f"score_{name}": scored[name][0] for name in own.DIMENSIONS},
        total_score=total,
        coverage=covered / (own.DIMENSION * len(own.DIMENSIONS)),
        grade=[grade_of(score) for score in total.tolist()],
    )
    order = reported.sort_values(["total_score", "amount", "code"], ascending=[False, False, True]).index
    return reported.assign(rank_no=pd.Series(range(1, len(reported) + 1), index=order))


def grade_of(score: float) -> str | None:
    if np.isnan(score):
        return None
    return next((grade for border, grade in own.GRADES if score >= border), own.LOWEST_GRADE)


def _dimension(parts: list[Part]) -> tuple[Floats, Floats]:
    """(points of 20 scaled up from the parts that are known, points that were known)."""
    share, known = weighted_mean(np.vstack([one for _, one in parts]), [points for points, _ in parts])
    return share * own.DIMENSION, known


def _height(boards: Floats) -> Floats:
    known = boards[~np.isnan(boards)]
    highest = known.max() if known.size else 0.0
    share: Floats = np.minimum(1.0, boards / max(own.FEWEST_BOARDS, highest))
    return share


def _held(sealed: npt.NDArray[np.bool_], share: Floats) -> Floats:
    return np.where(sealed, share, 0.0)


def _seal_times(times: pd.Series) -> Floats:
    def share(text: object) -> float:
        if not isinstance(text, str) or not text:
            return float("nan")
        return next((given for until, given in own.SEAL_TIMES if text <= until), own.SEAL_LATE)

    return np.array([share(text) for text in times], dtype=np.float64)


def _turnover(percent: Floats) -> Floats:
    good = (percent >= own.GOOD_TURNOVER[0]) & (percent <= own.GOOD_TURNOVER[1])
    fair = (percent >= own.FAIR_TURNOVER[0]) & (percent <= own.FAIR_TURNOVER[1])
    return np.where(np.isnan(percent), np.nan, np.select([good, fair], [1.0, 0.5], 0.0))


def _cap(yi: Floats) -> Floats:
    (small, below), *steps = own.CAP_STEPS
    conditions = [yi < small, *(yi <= until for until, _ in steps)]
    shares = np.select(conditions, [below, *(share for _, share in steps)], own.CAP_LARGE)
    return np.where(np.isnan(yi), np.nan, shares)


def _none_of(counts: Floats) -> Floats:
    return np.where(np.isnan(counts), np.nan, (counts == 0).astype(np.float64))


def _clipped(values: Floats) -> Floats:
    return np.clip(values, 0.0, 1.0)


def themes(
    members: pd.DataFrame, sealed: Set[str], codes: Set[str], industries: Mapping[str, str]
) -> pd.DataFrame:
    """Theme of each of `codes`: code, theme, theme_count, theme_rank.

    Of the blocks of a stock (`members`: block_name, code) the one with the most limit-ups (`sealed`), among
    equal ones the smaller; blocks with more than `LARGEST_THEME` members are none. Its industry is one more
    block, taken where no other has more. A stock without either has no row. `theme_rank` 1 has the most
    limit-ups of all themes that were found.
    """
    pairs = members[["block_name", "code"]].drop_duplicates()
    sizes = pairs.groupby("block_name")["code"].transform("size")
    pairs = pairs.assign(size=sizes)[sizes <= own.LARGEST_THEME]
    named = pd.DataFrame({"code": list(industries), "block_name": list(industries.values())})
    joined = pd.concat([pairs, named.assign(size=np.inf)], ignore_index=True)
    joined = joined.drop_duplicates(["block_name", "code"])
    ups = joined[joined["code"].isin(sealed)].groupby("block_name")["code"].size()
    own_blocks = joined[joined["code"].isin(codes)]
    counts = own_blocks["block_name"].map(ups).astype(float).fillna(0)
    best = own_blocks.assign(theme_count=counts).sort_values(
        ["code", "theme_count", "size", "block_name"], ascending=[True, False, True, True]
    )
    best = best.drop_duplicates("code").rename(columns={"block_name": "theme"})
    found = best.drop_duplicates("theme")["theme_count"].to_numpy()
    best["theme_rank"] = [1 + int((found > count).sum()) for count in best["theme_count"]]
    return best[["code", "theme", "theme_count", "theme_rank"]].reset_index(drop=True)


def with_place_in_theme(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds theme_highest (the longest streak of its theme) and theme_first (sealed first in it): 1, 0, NaN
    without a theme, or where it is not known when a limit was sealed. Needs sealed, boards, first_seal,
    theme.
    """
    at_limit = rows[rows["sealed"] & rows["theme"].notna()]
    boards = rows["theme"].map(at_limit.groupby("theme")["boards"].max()).astype(float)
    timed = at_limit[at_limit["first_seal"].notna()]
    first = rows["theme"].map(timed.groupby("theme")["first_seal"].min())
    highest = (rows["sealed"] & (rows["boards"].astype(float) == boards)).astype(float)
    is_first = (rows["sealed"] & (rows["first_seal"] == first)).astype(float)
    unknown = rows["sealed"] & rows["first_seal"].isna()
    return rows.assign(
        theme_highest=highest.where(rows["theme"].notna() & ~(rows["sealed"] & rows["boards"].isna())),
        theme_first=is_first.where(rows["theme"].notna() & ~unknown),
    )
