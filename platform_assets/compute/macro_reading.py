"""A reading of the economy from stored monthly figures: growth, prices, money. Pure and deterministic.

Each series that is fresh votes -1, 0 or +1 by one rule; a dimension is the mean of its votes. Growth and
prices together name the phase. Without a fresh vote on growth or on prices nothing is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

Kind = Literal["level", "change"]


@dataclass(frozen=True)
class Rule:
    """How one series votes. `level`: +1 above `high`, -1 below `low`. `change`: the newest value against the
    one `back` points before, +1 above `high`, -1 below `low`. `oldest`: days after which it is stale."""

    series: str
    minus: str
    name: str
    unit: str
    dimension: str
    kind: Kind
    low: float
    high: float
    back: int = 0
    oldest: int = 100
    why: str = ""


RULES = (
    Rule("cn_pmi_mfg", "", "制造业PMI", "", "growth", "level", 50.0, 50.0, why="荣枯线 50"),
    Rule("cn_pmi_nonmfg", "", "非制造业PMI", "", "growth", "level", 50.0, 50.0, why="荣枯线 50"),
    Rule("cn_industry_yoy", "", "工业增加值同比", "%", "growth", "change", -0.3, 0.3, 3, why="与三期前之差"),
    Rule("cn_retail_yoy", "", "社零同比", "%", "growth", "change", -0.3, 0.3, 3, why="与三期前之差"),
    Rule("cn_cpi_yoy", "", "CPI同比", "%", "prices", "change", -0.2, 0.2, 3, why="与三期前之差"),
    Rule("cn_ppi_yoy", "", "PPI同比", "%", "prices", "change", -0.3, 0.3, 3, why="与三期前之差"),
    Rule("cn_m1_yoy", "cn_m2_yoy", "M1-M2剪刀差", "个百分点", "money", "change", -0.3, 0.3, 3,
         why="剪刀差与三期前之差，扩大为宽松"),
    Rule("cn_lpr_1y", "", "1年期LPR", "%", "money", "change", 0.0, 0.0, 6, why="与六期前之差，下调为宽松"),
)  # fmt: skip
EASES_WHEN_LOWER = frozenset({"cn_lpr_1y"})
DIMENSIONS = ("growth", "prices", "money")
PHASES = {
    (1, 1): "过热",
    (1, 0): "扩张",
    (1, -1): "复苏",
    (0, 1): "通胀升温",
    (0, 0): "平稳",
    (0, -1): "通胀回落",
    (-1, 1): "滞胀",
    (-1, 0): "放缓",
    (-1, -1): "衰退",
}
"""(sign of growth, sign of prices) -> what the phase is called."""
NEEDED = ("growth", "prices")
_NAMES = {"growth": "增长", "prices": "物价", "money": "货币"}

Point = tuple[str, float]
"""(ISO date of the period, value)"""


def needed_series() -> tuple[str, ...]:
    """Every series that a rule looks at."""
    return tuple(dict.fromkeys(name for rule in RULES for name in (rule.series, rule.minus) if name))


def reading(points: Mapping[str, Sequence[Point]], today: str) -> dict[str, Any]:
    """{available, reason?, phase?, score?, dimensions, signals}. `points`: series -> points, oldest first, as
    known on `today`."""
    signals = [_signal(rule, points, today) for rule in RULES]
    dimensions = {name: _dimension(name, signals) for name in DIMENSIONS}
    without = [_NAMES[name] for name in NEEDED if dimensions[name]["score"] is None]
    reported: dict[str, Any] = {
        "available": not without,
        "reason": f"缺少新鲜的{'、'.join(without)}数据，无法判断" if without else None,
        "phase": None,
        "score": None,
        "dimensions": dimensions,
        "signals": signals,
    }
    if without:
        return reported
    growth, prices = (dimensions[name]["score"] for name in NEEDED)
    scores = [one["score"] for one in dimensions.values() if one["score"] is not None]
    return {
        **reported,
        "phase": PHASES[_sign(growth), _sign(prices)],
        "score": round(sum(scores) / len(scores), 2),
    }


def _sign(score: float) -> int:
    """The sign of a mean of votes: a third is needed, so that one of three alone decides nothing against two
    zeros and a tie is level."""
    return 1 if score > 1 / 3 else -1 if score < -1 / 3 else 0


def _dimension(name: str, signals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    votes = [one["vote"] for one in signals if one["dimension"] == name and one["vote"] is not None]
    score = round(sum(votes) / len(votes), 2) if votes else None
    return {"name": _NAMES[name], "score": score, "used": len(votes)}


def _signal(rule: Rule, points: Mapping[str, Sequence[Point]], today: str) -> dict[str, Any]:
    own = _series(rule, points)
    newest = own[-1] if own else None
    before = own[-1 - rule.back] if rule.kind == "change" and len(own) > rule.back else None
    status, vote = "ok", None
    if newest is None or (rule.kind == "change" and before is None):
        status = "missing"
    elif (date.fromisoformat(today) - date.fromisoformat(newest[0])).days > rule.oldest:
        status = "stale"
    else:
        measure = newest[1] if before is None else newest[1] - before[1]
        vote = 1 if measure > rule.high else -1 if measure < rule.low else 0
        vote = -vote if rule.series in EASES_WHEN_LOWER else vote
    return {
        "series": rule.series if not rule.minus else f"{rule.series}-{rule.minus}", "name": rule.name,
        "unit": rule.unit, "dimension": rule.dimension, "rule": rule.why,
        "value": None if newest is None else round(newest[1], 4),
        "period": None if newest is None else newest[0],
        "before": None if before is None else round(before[1], 4),
        "before_period": None if before is None else before[0], "vote": vote, "status": status,
    }  # fmt: skip


def _series(rule: Rule, points: Mapping[str, Sequence[Point]]) -> list[Point]:
    own = list(points.get(rule.series, ()))
    if not rule.minus:
        return own
    other = dict(points.get(rule.minus, ()))
    return [(day, value - other[day]) for day, value in own if day in other]
