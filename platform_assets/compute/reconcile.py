"""How far two sources differ in one field: differences beyond the rounding of their wires. Pure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Floats
from platform_assets.compute.nan_arithmetic import floats

ABS, PCT, SIGN_PCT = "abs", "pct", "sign_pct"
"""Kinds of a tolerance: in the unit of the field; in percent of the larger value; as that, and the signs
must agree as well."""
WORST = 10
ENOUGH_WITHIN_PCT = 99.0
"""Share of the compared values within the tolerance, and of all values on both sides, that is fine."""
_DIGITS = 6
_TINY = 1e-9


@dataclass(frozen=True)
class Tolerance:
    """The difference that two sources may have, after their roundings."""

    value: float
    kind: str = PCT


def measure(pairs: pd.DataFrame, tolerance: Tolerance) -> dict[str, Any]:
    """Columns `code`, `a`, `b` (missing: that side has no value) and, where the wires round, `rounding`: what
    two honest values may differ by, in the unit of the field.

    Gives compared, within_count, within_pct, median_diff, p95_diff, max_diff, mean_diff (signed, a - b),
    only_a, only_b, worst (at most ten {code, a, b, diff}, largest first) and status."""
    a, b = floats(pairs["a"]), floats(pairs["b"])
    has_a, has_b = ~np.isnan(a), ~np.isnan(b)
    both = has_a & has_b
    rounding = floats(pairs["rounding"])[both] if "rounding" in pairs.columns else 0.0
    codes = pairs["code"].to_numpy(dtype=object)[both]
    a, b = a[both], b[both]
    gap = np.maximum(np.abs(a - b) - np.nan_to_num(rounding), 0.0)
    scale = np.maximum(np.abs(a), np.abs(b)) if tolerance.kind != ABS else np.ones(len(a))
    share = 1.0 if tolerance.kind == ABS else 100.0
    diff = np.divide(gap, scale, out=np.zeros(len(a)), where=scale > 0) * share
    outside = diff > tolerance.value + _TINY
    if tolerance.kind == SIGN_PCT:
        outside |= (np.sign(a) != np.sign(b)) & (gap > 0)
    signed = np.sign(a - b) * diff
    count = int(both.sum())
    only_a, only_b = int((has_a & ~has_b).sum()), int((has_b & ~has_a).sum())
    within = count - int(outside.sum())
    return {
        "compared": count,
        "within_count": within,
        "within_pct": round(within / count * 100, 4) if count else None,
        "median_diff": _round(np.median(diff)) if count else None,
        "p95_diff": _round(np.percentile(diff, 95)) if count else None,
        "max_diff": _round(diff.max()) if count else None,
        "mean_diff": _round(signed.mean()) if count else None,
        "only_a": only_a,
        "only_b": only_b,
        "worst": _worst(codes, a, b, diff),
        "status": _status(count, within, only_a, only_b),
    }


def _worst(codes: npt.NDArray[np.object_], a: Floats, b: Floats, diff: Floats) -> list[dict[str, Any]]:
    """The names that differ most; names that do not differ are none of them."""
    order = np.lexsort((codes.astype(str), -diff))[:WORST].tolist()
    return [
        {"code": str(codes[at]), "a": _round(a[at]), "b": _round(b[at]), "diff": _round(diff[at])}
        for at in order
        if diff[at] > 0
    ]


def _status(count: int, within: int, only_a: int, only_b: int) -> str:
    if not count:
        return "no_second_source"
    seen = count + only_a + only_b
    fine = within >= count * ENOUGH_WITHIN_PCT / 100 and count >= seen * ENOUGH_WITHIN_PCT / 100
    return "ok" if fine else "warning"


def _round(value: Any) -> float:
    return round(float(value), _DIGITS) + 0.0


def float32_step(values: pd.Series) -> pd.Series:
    """Half a step of the float32 that a wire carries, in the unit of the values."""
    step = np.spacing(values.to_numpy(dtype=np.float32, na_value=np.nan))
    return pd.Series(np.abs(step.astype(float)) / 2, index=values.index)
