"""Stocks of a made-up market that fulfil a preset: all its factors at the right ends at once."""

import pandas as pd

from platform_assets.compute.factors.definitions import BY_KEY, KEYS, Input
from platform_assets.compute.factors.presets import Preset


def plant(rows: pd.DataFrame, at: int, preset: Preset) -> str:
    """Makes the wide row `at` one that the preset selects; gives its code."""
    ends = {one.factor: one.min is not None for one in preset.filters}
    if preset.min_composite is not None:
        ends = dict.fromkeys(KEYS, True) | ends
    for factor, is_top in ends.items():
        for one in BY_KEY[factor].inputs:
            rows.loc[at, one.field] = _end(rows[one.field], one, is_top=is_top)
    if preset.industries:
        rows.loc[at, "industry"] = preset.industries[0]
    return str(rows.loc[at, "code"])


def _end(column: "pd.Series[float]", one: Input, *, is_top: bool) -> float:
    """A value beyond all others, on the side that gives a high score or a low one."""
    if is_top == (one.direction == "high"):
        return float(column.abs().max()) + 1
    if one.positive:
        return float(column[column > 0].min()) / 2
    return float(column.min()) - 1 if column.min() else 0.0
