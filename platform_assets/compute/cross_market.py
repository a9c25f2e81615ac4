"""The risk temperature of a market among others: nine rules, each 0 to 100. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from platform_assets.compute.parameters.cross_market import FEWEST, LEVELS, RULES, RiskRule

OK, STALE, MISSING = "ok", "stale", "missing"


@dataclass(frozen=True)
class Reading:
    """The value that a rule checks, and its day. `age`: how many trade dates a domestic
    value is behind the newest session, how many days an external one is behind today."""

    value: float
    day: str
    age: int


def score(rule: RiskRule, value: float) -> float:
    """0 at calm and on its safe side, 100 at the threshold and beyond."""
    share = (value - rule.calm) / (rule.threshold - rule.calm)
    return round(100 * min(1.0, max(0.0, share)), 1)


def temperature(readings: Mapping[str, Reading]) -> dict[str, Any]:
    """A stale or missing item counts neither above nor below the line; of fewer than `FEWEST` items there is
    no temperature."""
    rules = [_judged(rule, readings.get(rule.key)) for rule in RULES]
    scores = [row["score"] for row in rules if row["score"] is not None]
    reported = round(sum(scores) / len(scores), 1) if len(scores) >= FEWEST else None
    missing = len(RULES) - len(scores)
    reason = None
    if reported is None:
        reason = f"{len(RULES)} 项指标中仅 {len(scores)} 项可用，少于 {FEWEST} 项，不计算风险温度"
    elif missing:
        reason = f"{missing} 项指标缺失或过期，未计入"
    return {
        "temperature": reported,
        "level": None if reported is None else next(name for least, name in LEVELS if reported >= least),
        "confidence": round(len(scores) / len(RULES), 2),
        "coverage": {"used": len(scores), "total": len(RULES)},
        "rules": rules,
        "reason": reason,
    }


def _judged(rule: RiskRule, reading: Reading | None) -> dict[str, Any]:
    status = MISSING
    if reading is not None:
        status = OK if reading.age <= rule.oldest else STALE
    return {
        "key": rule.key, "group": rule.group, "name": rule.name,
        "value": None if reading is None else round(reading.value, 2), "calm": rule.calm,
        "threshold": rule.threshold,
        "score": score(rule, reading.value) if reading is not None and status == OK else None,
        "status": status, "as_of": None if reading is None else reading.day,
    }  # fmt: skip
