"""Comparison of several companies: figures, ranks by rules, a conclusion in checked sentences."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.errors import PlatformError
from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.evidence.wording import said
from resources.models.protocol import LanguageModel, Message, Prompt
from resources.redact import redact
from serving_api.chat import prompts, receipts, rules
from serving_api.chat.answering import MODEL, UNSUPPORTED
from serving_api.chat.checked import Checker, evidence_items
from serving_api.chat.subjects import pack_of
from serving_api.evidence import parts
from serving_api.evidence.packs import fact_of
from serving_api.framework.state import State
from serving_api.framework.user import User
from serving_api.settings.language_model import why_no_model
from serving_api.stocks.service import Stocks

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Composed:
    """`text`: None when the rules have to write. `reported`: keys of the answer that say how it was made."""

    text: str | None
    reported: dict[str, Any] = field(default_factory=dict)


async def compose(
    state: State,
    user: User,
    model: LanguageModel | None,
    checker: Checker,
    kind: str,
    instruction: str,
    *,
    key: str,
) -> Composed:
    """What a model writes for an `instruction`, with every number bound: asked once more when one is
    not. `key` distinguishes questions of one kind: an earlier text is the fallback when the model
    fails."""
    if model is None:
        return Composed(None, {"provenance": rules.PREFILL, "label": rules.LABEL})
    question = receipts.hash_of(kind, key, instruction)
    first = Message("user", f"{prompts.evidence_block(checker.pack)}\n\n{instruction}")
    prompt = Prompt(prompts.system_of("chat", ()), [first])
    try:
        reply = await model.reply(prompt)
        checked = checker.look(reply.text)
        if checked.unbound:
            again = Message("user", prompts.again(checked.unbound))
            reply = await model.reply(Prompt(prompt.system, [first, Message("assistant", reply.text), again]))
            checked = checker.look(reply.text)
    except PlatformError as error:
        log.warning("a model failed: %s: %s", type(error).__name__, redact(error.message))
        before = await receipts.answered_before(state, user, question)
        why = why_no_model(error)
        if before is None:
            return _by_rules(why)
        reported = {"provenance": MODEL, "label": None, "model": before["model"]}
        return Composed(before["answer"]["text"], {**reported, "llmError": why, "fallbackOf": "cached"})
    if checked.unbound or not checked.text.strip():
        return _by_rules(UNSUPPORTED)
    text = checker.ledger.take(checked)
    receipt = {
        "provenance": MODEL, "provider": reply.provider, "model": reply.model,
        "prompt_hash": prompts.hash_of_prompt(prompt), "asked_again": False, **checker.receipt(),
        "unbound": [], "answer": {"text": text},
    }  # fmt: skip
    await receipts.keep(state, user, kind, question, receipt)
    return Composed(text, {"provenance": MODEL, "label": None, "model": reply.model})


def _by_rules(why: str) -> Composed:
    reported = {"provenance": rules.PREFILL, "label": rules.LABEL}
    return Composed(None, {**reported, "llmError": why, "fallbackOf": rules.PREFILL})


@dataclass(frozen=True)
class Dimension:
    """`topic`: the word of `focus` that selects it. `positive`: values of zero or less do not count."""

    key: str
    label: str
    unit: str
    better: Literal["high", "low"]
    table: str
    topic: str
    positive: bool = False


DIMENSIONS: tuple[Dimension, ...] = (
    Dimension("pe_ttm", "市盈率TTM", "", "low", parts.VALUATION, "估值", positive=True),
    Dimension("pb", "市净率", "", "low", parts.VALUATION, "估值", positive=True),
    Dimension("dividend_yield", "股息率", "pct", "high", parts.VALUATION, "分红"),
    Dimension("roe", "净资产收益率", "pct", "high", parts.FINANCE, "盈利"),
    Dimension("gross_margin", "毛利率", "pct", "high", parts.FINANCE, "盈利"),
    Dimension("revenue_yoy", "营业收入同比", "pct", "high", parts.FINANCE, "成长"),
    Dimension("net_profit_yoy", "归母净利润同比", "pct", "high", parts.FINANCE, "成长"),
    Dimension("debt_ratio", "资产负债率", "pct", "low", parts.FINANCE, "风险"),
    Dimension("chg_60d", "近60日涨跌幅", "pct", "high", parts.WIDE, "走势"),
    Dimension("main_net_5d", "近5日主力净额", "CNY", "high", parts.WIDE, "资金"),
    Dimension("composite", "综合因子分", "", "high", parts.SCORES, "评分"),
)
_LEAST_SHARE = 0.5
"""A company is ranked when it has at least this share of the dimensions. Our choice."""
_INSTRUCTION = "比较这些公司，写一段不超过300字的结论：谁在哪方面占优，差距多大，有何风险。"


async def compare(
    state: State, user: User, model: LanguageModel | None, codes: Sequence[str], focus: str | None
) -> dict[str, Any]:
    """The body of the answer. Raises NotFound."""
    pack, names = await pack_of(state, codes)
    chosen = _chosen(focus)
    facts = {
        code: {one.key: fact for one in chosen if (fact := _fact(pack, one, name)) is not None}
        for code, name in names.items()
    }
    numbers = {code: {key: fact.number or 0.0 for key, fact in of.items()} for code, of in facts.items()}
    places = ranks(numbers, {one.key: one.better for one in chosen})
    checker = Checker(
        pack, focus or "", [one.name for one in (await state.part(Stocks).directory()).listings]
    )
    written = await compose(
        state, user, model, checker, "compare", f"{_INSTRUCTION}关注：{focus or '全部'}", key="、".join(codes)
    )
    ordered = sorted(codes, key=lambda code: (places[code] is None, places[code] or 0, code))
    text = written.text or checker.own(_conclusion(chosen, facts, names, ordered, places))
    return {
        "items": [
            {
                "code": code,
                "name": names[code],
                "metrics": {one.key: numbers[code].get(one.key) for one in chosen},
                "rank": places[code],
            }
            for code in ordered
        ],
        "dimensions": [
            {"key": one.key, "label": one.label, "unit": one.unit, "better": one.better} for one in chosen
        ],
        "conclusion": text,
        **written.reported,
        "evidence": evidence_items(pack, [fact.id for of in facts.values() for fact in of.values()]),
    }


def ranks(
    figures: Mapping[str, Mapping[str, float]], better: Mapping[str, Literal["high", "low"]]
) -> dict[str, int | None]:
    """Rank of each company by the mean of its ranks in the dimensions that it has; equal means share a
    rank. None for a company with too few."""
    means: dict[str, float] = {}
    for code, own in figures.items():
        places = []
        for key, value in own.items():
            others = [of[key] for of in figures.values() if key in of]
            ahead = sum(one > value if better[key] == "high" else one < value for one in others)
            level = sum(one == value for one in others)
            places.append(ahead + (level + 1) / 2)
        if places and len(places) >= len(better) * _LEAST_SHARE:
            means[code] = sum(places) / len(places)
    return {
        code: None if code not in means else 1 + sum(one < means[code] - 1e-9 for one in means.values())
        for code in figures
    }


def _chosen(focus: str | None) -> list[Dimension]:
    """Dimensions that the focus names; all when it names none."""
    named = [one for one in DIMENSIONS if focus and (one.topic in focus or one.label in focus)]
    return named or list(DIMENSIONS)


def _fact(pack: Pack, one: Dimension, name: str) -> Fact | None:
    fact = fact_of(pack, one.table, one.key, name)
    if fact is None or fact.number is None or (one.positive and fact.number <= 0):
        return None
    return fact


def _conclusion(
    chosen: Sequence[Dimension], facts: Mapping[str, Mapping[str, Fact]], names: Mapping[str, str],
    ordered: Sequence[str], places: Mapping[str, int | None],
) -> str:  # fmt: skip
    ranked = [names[code] for code in ordered if places[code] is not None]
    lines = [f"（{rules.LABEL}）"]
    if ranked:
        lines.append(f"综合各项排名，由前到后：{'、'.join(ranked)}。")
    for one in chosen:
        known = [(code, of[one.key]) for code, of in facts.items() if one.key in of]
        if len(known) < 2:
            continue
        best = (max if one.better == "high" else min)(known, key=lambda pair: pair[1].number or 0.0)[1]
        word = "最高" if one.better == "high" else "最低"
        lines.append(f"{one.label}{word}的是{best.subject}：{best.label} {said(best)}[{best.id}]。")
    return "\n".join(lines)
