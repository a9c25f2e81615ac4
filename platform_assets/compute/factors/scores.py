"""Scores of one batch of stocks on one date.

Each input's valid values are ranked within the batch: r = mean rank / count, and 1 - r where low is good. A
factor is 100 times the mean of the r that a stock has, the composite the weighted mean of the factors that it
has. What is missing is left out of both means, never filled.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats
from platform_assets.compute.factors.definitions import FACTORS, INPUT_COLUMNS, INPUTS
from platform_assets.compute.factors.gates import gates_of
from platform_assets.compute.nan_arithmetic import average_ranks, divided, floats, weighted_mean
from platform_assets.compute.parameters.factors import WEIGHTS


@dataclass(frozen=True)
class Scores:
    """A scored batch of n stocks; NaN is missing everywhere."""

    values: Mapping[str, Floats]
    """[n] by input column, as they came"""
    ranks: Mapping[str, Floats]
    """[n] by input column: mean rank from 1 on among the valid values"""
    counts: Mapping[str, int]
    """Valid values by input column"""
    factors: Mapping[str, Floats]
    """[n] by factor key, 0..100"""
    composite: Floats
    """[n] 0..100"""
    covered: Floats
    """[n] weight of the factors that a stock has / weight of all"""
    weights: Mapping[str, float]

    @property
    def size(self) -> int:
        """Stocks in the batch."""
        return len(self.composite)

    def shares(self, field: str) -> Floats:
        """[n] r of an input, turned where low is good: 0..1."""
        direction = next(one.direction for one in INPUTS if one.field == field)
        count = self.counts[field]
        r = self.ranks[field] / count if count else self.ranks[field]
        return 1 - r if direction == "low" else r


def score(values: Mapping[str, Floats], weights: Mapping[str, float] = WEIGHTS) -> Scores:
    """Scores of a batch. `values`: [n] by input column, NaN where missing; a column that is not there is
    missing for all. `weights`: by factor key, not negative; a factor without one does not count."""
    size = len(next(iter(values.values()))) if values else 0
    given = {field: values.get(field, np.full(size, np.nan)) for field in INPUT_COLUMNS}
    ranks: dict[str, Floats] = {}
    counts: dict[str, int] = {}
    factors: dict[str, Floats] = {}
    for factor in FACTORS:
        total, there = np.zeros(size), np.zeros(size)
        for one in factor.inputs:
            found = given[one.field]
            if one.positive:
                found = np.where(found > 0, found, np.nan)
            rank, count = average_ranks(found)
            ranks[one.field], counts[one.field] = rank, count
            share = rank / max(count, 1)
            known = ~np.isnan(share)
            total += np.where(known, 1 - share if one.direction == "low" else share, 0.0)
            there += known
        factors[factor.key] = 100 * divided(total, there)
    composite, covered = weighted(factors, weights)
    return Scores(given, ranks, counts, factors, composite, covered, weights)


def weighted(factors: Mapping[str, Floats], weights: Mapping[str, float]) -> tuple[Floats, Floats]:
    """([n] weighted mean of the factors that each stock has; [n] their share of the whole weight)."""
    own = [weights.get(key, 0.0) for key in factors]
    mean, there = weighted_mean(np.vstack(list(factors.values())), own)
    whole = sum(own)
    return mean, there / whole if whole else there


def has_bar(price: Floats, suspended: Floats) -> Bools:
    """Whether a stock belongs to the batch of its date: it has a price and is not suspended (1 suspended; 0
    or NaN not). Those delisted have none."""
    traded: Bools = (price > 0) & ~(suspended == 1)
    return traded


def numbers(wide: pd.DataFrame, column: str) -> Floats:
    """[rows] a column as floats, NaN where it is null or not there."""
    if column not in wide.columns:
        return np.full(len(wide), np.nan)
    return floats(pd.to_numeric(wide[column], errors="coerce"))


def factor_scores(wide: pd.DataFrame) -> pd.DataFrame:
    """Scores of a market on one date: columns code, those of the eleven factors, composite, covered_weight
    (0..1), gate_blocked, gate_code, gate_reason, as `calc_factor_score` has them; a row per stock with a bar,
    by code.

    `wide`: rows of one date with the columns of `fusion_stock_wide`: code, current_price, is_suspended,
    `INPUT_COLUMNS`, and for the gates name, is_st, roe, debt_ratio, revenue_yoy, net_profit_yoy.
    """
    there = has_bar(numbers(wide, "current_price"), numbers(wide, "is_suspended"))
    batch = wide[there].sort_values("code", kind="stable").reset_index(drop=True)
    scored = score({field: numbers(batch, field) for field in INPUT_COLUMNS})
    rows = pd.DataFrame({"code": batch["code"].astype(object)})
    for factor in FACTORS:
        rows[factor.column] = scored.factors[factor.key]
    rows["composite"] = scored.composite
    rows["covered_weight"] = scored.covered
    gates = gates_of(batch)
    rows["gate_blocked"] = [gate.blocked for gate in gates]
    rows["gate_code"] = pd.Series([gate.code for gate in gates], dtype=object)
    rows["gate_reason"] = pd.Series([gate.reason for gate in gates], dtype=object)
    return rows
