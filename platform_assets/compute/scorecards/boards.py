"""Picks of a board: the order of ties, and the tactic score with its parts."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import weighted_mean
from platform_assets.compute.parameters import scorecards
from platform_assets.compute.three_valued import all_of


def top(rows: pd.DataFrame, by: str, size: int = scorecards.BOARD_SIZE) -> pd.DataFrame:
    """The `size` best rows by a column, with `rank_no` from 1. Rows without a value are on no board.

    Ties go by `composite` (largest first), `amount` (largest first) and `code` (smallest first), so the same
    rows in any order give the same board; a row without composite or amount comes after one with it.
    """
    ranked = rows[rows[by].notna()]
    keys = list(dict.fromkeys((by, "composite", "amount")))
    keys = [name for name in keys if name in ranked.columns]
    ranked = ranked.sort_values(
        [*keys, "code"], ascending=[*(False for _ in keys), True], na_position="last", kind="stable"
    )
    board = ranked.head(size).reset_index(drop=True)
    board["rank_no"] = np.arange(1, len(board) + 1)
    return board


def kept_from_leaders(special: bool, list_date: str | None, since: str) -> str | None:
    """Why a stock is on no board of leaders, None where it may be. `special`: under special treatment;
    `since`: the first of the market dates on which a listing still counts as new."""
    if special:
        return "ST in the name on the date"
    if list_date is not None and list_date >= since:
        return f"listed on {list_date}: in its first {scorecards.NEW_STOCK_DAYS} trade dates"
    return None


def pattern_score(directions: Floats) -> Floats:
    """0..100 of the sum of pattern directions (+1, -1 each) in the newest bars: 50 is neutral, two in one
    direction are the end of the scale."""
    return 50 + 50 * np.clip(directions / scorecards.PATTERN_SPAN, -1.0, 1.0)


def signal_score(conditions: Mapping[str, Floats]) -> Floats:
    """Percent of conditions (1 true, 0 false, NaN not known) that hold; NaN where none is known."""
    held, _ = weighted_mean(np.vstack(list(conditions.values())), np.ones(len(conditions)))
    return held * 100


def signal_conditions(
    *,
    close: Floats,
    volume: Floats,
    macd_hist: Floats,
    macd_hist_before: Floats,
    kdj_k: Floats,
    kdj_d: Floats,
    boll_mid: Floats,
    vol_ma5: Floats,
    ma20: Floats,
    ma20_before: Floats,
) -> dict[str, Floats]:
    """The five conditions of the signal score on one date; `_before` is the previous bar, of one scale."""
    return {
        "macd": all_of([_holds(macd_hist, 0.0), _holds(macd_hist, macd_hist_before)]),
        "kdj": _holds(kdj_k, kdj_d),
        "boll": _holds(close, boll_mid),
        "volume": _holds(volume, vol_ma5),
        "ma20": _holds(ma20, ma20_before),
    }


def _holds(one: Floats, other: Floats | float) -> Floats:
    """1 where one > other, 0 where not, NaN where either is not known."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(one) & np.isfinite(other), one > other, np.nan)


def tactic_score(parts: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """(score 0..100, weight of the parts that are there 0..1). `parts` are 0..100 under the names of
    `TACTIC_WEIGHTS`; a missing one is NaN or absent. Below `TACTIC_MIN_WEIGHT` there is no score."""
    there = [name for name in scorecards.TACTIC_WEIGHTS if name in parts]
    mean, weight = weighted_mean(
        np.vstack([parts[name] for name in there]), [scorecards.TACTIC_WEIGHTS[name] for name in there]
    )
    return np.where(weight >= scorecards.TACTIC_MIN_WEIGHT - 1e-9, mean, np.nan), weight
