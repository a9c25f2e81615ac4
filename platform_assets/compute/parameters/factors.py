"""Weights, limits and preset thresholds of the factor scores, the gates and the factor comparison."""

from collections.abc import Mapping

WEIGHTS: Mapping[str, float] = {
    "momentum": 0.15,
    "quality": 0.13,
    "value": 0.11,
    "growth": 0.10,
    "trend": 0.09,
    "capital": 0.09,
    "stability": 0.09,
    "shortTerm": 0.08,
    "liquidity": 0.08,
    "limitGene": 0.04,
    "size": 0.04,
}
"""Fixed by the specification; the sum is 1."""

ROE_HARD_LIMIT = 0.0
"""Percent; below it a stock is blocked. Fixed by the specification."""
DEBT_RATIO_HARD_LIMIT = 90.0
"""Percent; above it a stock is blocked. Fixed by the specification."""
DEBT_RATIO_WARN = 70.0
"""Percent; from it up to the hard limit a warning. Fixed by the specification."""

PRESET_LIMIT = 50
"""Rows of a preset. Ours."""
RESONANCE_COMPOSITE = 70.0
"""Least composite of `multiFactorResonance`. Ours."""

Bounds = tuple[str, float | None, float | None]
"""(factor, least score, greatest score); None: no bound on that side."""
PRESET_FILTERS: Mapping[str, tuple[Bounds, ...]] = {
    "momentumCore": (("momentum", 80, None), ("trend", 60, None)),
    "valueDeep": (("value", 80, None), ("quality", 40, None)),
    "breakoutVol": (("shortTerm", 75, None), ("trend", 70, None), ("liquidity", 40, None)),
    "growthMomentum": (("growth", 75, None), ("momentum", 65, None)),
    "volumeIgnition": (("shortTerm", 85, None), ("liquidity", 50, None)),
    "capitalFlow": (("capital", 85, None), ("liquidity", 40, None)),
    "oversoldQuality": (("momentum", None, 25), ("quality", 75, None)),
    "blueChipLiquidity": (("liquidity", 85, None), ("quality", 55, None), ("size", None, 30)),
    "smallCapElastic": (("size", 80, None), ("shortTerm", 60, None), ("liquidity", 30, None)),
    "qualityCompounder": (("quality", 85, None), ("growth", 50, None), ("stability", 50, None)),
    "aiComputeRotation": (("momentum", 60, None), ("capital", 60, None)),
    "multiFactorResonance": (
        ("momentum", 55, None),
        ("quality", 55, None),
        ("growth", 55, None),
        ("capital", 55, None),
    ),
    "lowVolQuality": (("stability", 80, None), ("quality", 65, None)),
    # Most stocks have neither a limit-up nor a failed one, so the mean rank of the ties caps this factor
    # near 84: a bound of 90 would be out of reach.
    "limitUpGene": (("limitGene", 75, None), ("liquidity", 40, None)),
}
"""Ours, all of them."""
AI_INDUSTRIES = ("通信设备", "半导体", "计算机设备", "元件", "IT服务")
"""Industries of `aiComputeRotation`. Ours."""

IC_FEWEST_CODES = 20
"""Codes that a date needs for a rank correlation. Ours."""
IC_GROUPS = 5
"""Equal groups by rank whose outer two make the spread. Ours."""
