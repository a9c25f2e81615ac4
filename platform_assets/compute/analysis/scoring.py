"""Five scores of 0..5 over a pack, the gates, the total and the direction that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platform_assets.compute.analysis.found import Found, Rule, newest
from platform_assets.compute.analysis.rules import FINANCE, RULES
from platform_assets.compute.evidence.facts import Pack
from platform_assets.compute.evidence.wording import said
from platform_assets.compute.factors.gates import Gate, check_gates
from platform_assets.compute.parameters import analysis as own
from platform_assets.compute.scorecards.cards import BEARISH, BULLISH, NEUTRAL

MASTER = "fusion_stock_master"
_FIGURES = ("roe", "debt_ratio", "revenue_yoy", "net_profit_yoy")
_BLOCKS = {"roe_negative": ("roe", "净资产收益率为负"), "debt_high": ("debt_ratio", "资产负债率超过硬门槛")}


@dataclass(frozen=True)
class Scored:
    """Scores of a company by the rules. A score is None where none of its rules found a fact."""

    name: str
    scores: Mapping[str, float | None]
    found: tuple[tuple[Rule, Found], ...]
    missing: tuple[Rule, ...]
    gate: Gate
    gate_reason: str | None

    @property
    def total(self) -> float | None:
        return total_of(self.scores, blocked=self.gate.blocked)

    @property
    def direction(self) -> str:
        return direction_of(self.total, blocked=self.gate.blocked)

    def of(self, dimension: str) -> list[tuple[Rule, Found]]:
        return [one for one in self.found if one[0].dimension == dimension]


def score(pack: Pack, name: str) -> Scored:
    """Scores of the company called `name` in the pack."""
    looked = [(rule, rule.find(pack, name)) for rule in RULES]
    found = tuple((rule, one) for rule, one in looked if one is not None)
    scores = {
        dimension: _mean([one.score for rule, one in found if rule.dimension == dimension])
        for dimension in own.DIMENSIONS
    }
    gate, reason = gate_of(pack, name)
    return Scored(name, scores, found, tuple(rule for rule, one in looked if one is None), gate, reason)


def total_of(scores: Mapping[str, float | None], *, blocked: bool) -> float | None:
    """Mean of the dimensions that are known, capped where a gate blocks; None where too few are known."""
    known = [value for value in scores.values() if value is not None]
    if len(known) < own.FEWEST_DIMENSIONS:
        return None
    total = sum(known) / len(known)
    return round(min(total, own.GATE_CAP) if blocked else total, 2)


def direction_of(total: float | None, *, blocked: bool) -> str:
    """The direction of the coming sessions that a total indicates; a blocked stock is never bullish."""
    if total is None:
        return NEUTRAL
    if total <= own.BEARISH_TO:
        return BEARISH
    return BULLISH if total >= own.BULLISH_FROM and not blocked else NEUTRAL


def gate_of(pack: Pack, name: str) -> tuple[Gate, str | None]:
    """(the hard gates over the newest report and the list of securities, the reason in Chinese)."""
    facts = {column: newest(pack, FINANCE, column, name) for column in _FIGURES}
    figures = {column: None if fact is None else fact.number for column, fact in facts.items()}
    listed = newest(pack, MASTER, "is_st", name)
    gate = check_gates(
        st=listed is not None and listed.value == "是",
        roe=figures["roe"],
        debt_ratio=figures["debt_ratio"],
        revenue_yoy=figures["revenue_yoy"],
        profit_yoy=figures["net_profit_yoy"],
    )
    if not gate.blocked:
        return gate, None
    if gate.code in _BLOCKS:
        column, words = _BLOCKS[gate.code]
        fact = facts[column]
        return gate, words if fact is None else f"{words}：{said(fact)}"
    return gate, "名称含ST，属风险警示股票"


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 2) if values else None
