"""Text of the analysis by rules. Every number is a fact that its sentence cites; scores are fields next to
the text, not in it."""

from typing import Any

from platform_assets.compute.analysis.scoring import Scored
from platform_assets.compute.parameters.analysis import DIMENSIONS, MOST_CONCLUSION

RULES_LABEL = "规则预填，非模型生成"
_STRONG, _WEAK = 3.3, 2.0


def sections(scored: Scored) -> dict[str, Any]:
    """The sections by dimension: {label, score, text, evidence[ids], rules[{key, label, score, text,
    reason}]}."""
    return {
        dimension: {
            "label": label,
            "score": scored.scores[dimension],
            "text": _line(scored, dimension),
            "evidence": [fact.id for _, found in scored.of(dimension) for fact in found.facts],
            "rules": [
                {"key": rule.key, "label": rule.label, "score": round(found.score, 2), "text": found.text,
                 "reason": rule.reason}
                for rule, found in scored.of(dimension)
            ],
        }
        for dimension, label in DIMENSIONS.items()
    }  # fmt: skip


def conclusion(scored: Scored) -> str:
    """At most `MOST_CONCLUSION` characters; what does not fit is left out by whole lines."""
    lines = [_line(scored, dimension) for dimension in DIMENSIONS]
    if scored.gate_reason:
        lines.append(f"硬门槛：{scored.name}触发风险门槛，综合评分封顶。")
    if scored.missing:
        lines.append(f"缺少数据：{'、'.join(rule.label for rule in scored.missing)}。")
    lines.append(f"{RULES_LABEL}；仅描述入库数据，不构成投资建议。")
    reported, left = [], MOST_CONCLUSION
    for line in lines:
        if len(line) + 1 <= left:
            reported.append(line)
            left -= len(line) + 1
    return "\n".join(reported)


def _line(scored: Scored, dimension: str) -> str:
    label, points = DIMENSIONS[dimension], scored.scores[dimension]
    if points is None:
        return f"{label}（无数据）：{scored.name}没有可用的入库数据。"
    mood = "偏强" if points >= _STRONG else "偏弱" if points <= _WEAK else "中性"
    return f"{label}（{mood}）：{scored.name}{'；'.join(one.text for _, one in scored.of(dimension))}。"
