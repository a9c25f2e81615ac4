"""A score down to its input cells: everything that is needed to compute it again."""

import math
from typing import Any

from platform_assets.compute.factors.definitions import FACTORS, Input
from platform_assets.compute.factors.scores import Scores

NOT_THERE = "missing"
NOT_POSITIVE = "zero or less counts as missing"


def breakdown(scores: Scores, place: int) -> dict[str, Any]:
    """One stock of a scored batch: composite, covered_weight, and per factor its weight, score, share of the
    composite's weight, and inputs with value, mean rank, count of ranked values and percentile (0..1, turned
    where low is good). Figures are not rounded; None is missing."""
    present = sum(
        scores.weights.get(factor.key, 0.0)
        for factor in FACTORS
        if not math.isnan(scores.factors[factor.key][place])
    )
    factors = []
    for factor in FACTORS:
        weight = scores.weights.get(factor.key, 0.0)
        score = number(scores.factors[factor.key][place])
        factors.append(
            {
                "key": factor.key, "label": factor.label, "mark": factor.mark, "weight": weight,
                "effective_weight": weight / present if score is not None and present else 0.0,
                "score": score, "inputs": [_cell(scores, one, place) for one in factor.inputs],
            }
        )  # fmt: skip
    return {
        "universe_size": scores.size,
        "composite": number(scores.composite[place]),
        "covered_weight": number(scores.covered[place]),
        "factors": factors,
    }


def _cell(scores: Scores, one: Input, place: int) -> dict[str, Any]:
    value = number(scores.values[one.field][place])
    rank = number(scores.ranks[one.field][place])
    note = None
    if rank is None:
        note = NOT_THERE if value is None else NOT_POSITIVE
    return {
        "field": one.field, "label": one.label, "direction": one.direction, "value": value, "rank": rank,
        "count": scores.counts[one.field], "percentile": number(scores.shares(one.field)[place]),
        "note": note,
    }  # fmt: skip


def number(value: float) -> float | None:
    """A float of Python; None for what is not finite."""
    return float(value) if math.isfinite(value) else None
