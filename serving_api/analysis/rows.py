"""Rows of stock_analysis made by rules, a model or a person, and their form in responses."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from platform_assets.compute.analysis.report_text import RULES_LABEL, conclusion, sections
from platform_assets.compute.analysis.scoring import Scored, direction_of, total_of
from platform_assets.compute.evidence.binding import CITATION
from platform_assets.compute.parameters.analysis import DIMENSIONS
from serving_api.analysis.answer import Verified, held
from serving_api.analysis.queries import RULES, Row
from serving_api.analysis.reading import Company

MODEL, MANUAL, EMPTY = "ai", "manual", "empty"
MOST_EVIDENCE = 80
_TIERS = {
    MODEL: "live", MANUAL: "manual", RULES: "rule", "local_rule": "rule", "agent_batch": "offline-assistant",
    "deep_ai": "offline-assistant",
}  # fmt: skip


def by_rules(company: Company, scored: Scored, now: datetime) -> Row:
    """The row of the rules; every number of its text is a fact that its sentence cites."""
    checked = held(conclusion(scored), company.pack, scored.name, ())
    parts = sections(scored)
    cited = [one for section in parts.values() for one in section["evidence"]]
    receipt = {"bound": len(checked.bound), "unbound": checked.unbound, "facts": len(company.pack.facts)}
    return _row(RULES, company, scored, scored.scores, now, checked.text, parts, cited, receipt)


def by_model(
    company: Company,
    scored: Scored,
    verified: Verified,
    now: datetime,
    model: str,
    receipt: Mapping[str, Any],
) -> Row:
    """The row of a model's verified submission."""
    if verified.submitted is None or verified.problems:
        raise ValueError("only a verified submission is stored")
    scores = {key: round(value, 2) for key, value in verified.submitted.scores.model_dump().items()}
    texts = {key: checked.text for key, checked in verified.checked.items()}
    parts = _sections(scored, scores, texts)
    cited = [one for text in texts.values() for one in CITATION.findall(text)]
    bound = sum(len(checked.bound) for checked in verified.checked.values())
    receipt = {**receipt, "bound": bound, "unbound": [], "facts": len(company.pack.facts)}
    return _row(MODEL, company, scored, scores, now, texts["conclusion"], parts, cited, receipt, model)


def by_hand(
    company: Company, scored: Scored, scores: Mapping[str, float], text: str, now: datetime, by: str
) -> Row:
    """The row of an administrator's analysis, with the gates of the rules."""
    parts = _sections(scored, scores, dict.fromkeys(DIMENSIONS, ""))
    return _row(MANUAL, company, scored, scores, now, text, parts, (), {"author": by})


def _sections(scored: Scored, scores: Mapping[str, float], texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        key: {
            "label": label, "score": scores[key], "rule_score": scored.scores[key], "text": texts[key],
            "evidence": CITATION.findall(texts[key]),
        }
        for key, label in DIMENSIONS.items()
    }  # fmt: skip


def _row(
    source: str, company: Company, scored: Scored, scores: Mapping[str, float | None], now: datetime,
    text: str, parts: Mapping[str, Any], cited: Iterable[str], receipt: Mapping[str, Any],
    model: str | None = None,
) -> Row:  # fmt: skip
    """`cited`: the numbers of facts, of which the first are stored."""
    named = list(dict.fromkeys(cited))[:MOST_EVIDENCE]
    total = total_of(scores, blocked=scored.gate.blocked)
    return {
        "source": source,
        "code": company.code,
        "date": now.date().isoformat(),
        "name": company.name,
        "industry": company.industry,
        "direction": direction_of(total, blocked=scored.gate.blocked),
        "total_score": total,
        "scores_json": dict(scores),
        "gate_blocked": int(scored.gate.blocked),
        "gate_reason": scored.gate_reason,
        "as_of": company.pack.as_of,
        "conclusion": text,
        "sections_json": parts,
        "evidence_json": [fact.plain() for fact in company.pack.of(named)],
        "receipt_json": receipt,
        "model": model,
    }


def shown(row: Row) -> dict[str, Any]:
    """A row as responses show it."""
    source = str(row["source"])
    return {
        **{name: row[name] for name in ("code", "name", "industry", "date")},
        "as_of": None if row["as_of"] is None else str(row["as_of"])[:19], "scores": row["scores_json"],
        "total_score": row["total_score"], "direction": row["direction"], "conclusion": row["conclusion"],
        "sections": row["sections_json"], "gate_blocked": bool(row["gate_blocked"]),
        "gate_reason": row["gate_reason"], "provenance": source, "tier": tier(source),
        "label": RULES_LABEL if source == RULES else None, "model": row["model"],
        "evidence": row["evidence_json"], "receipt": row["receipt_json"],
    }  # fmt: skip


def empty(code: str) -> dict[str, Any]:
    return {"code": code, "provenance": EMPTY, "tier": EMPTY}


def tier(source: str) -> str:
    """Tier of a provenance (specification); an unknown source does not count as live."""
    return _TIERS.get(source, "offline-assistant")
