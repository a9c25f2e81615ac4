"""The deep look at one company: sections of its pack and a conclusion."""

from typing import Any

from resources.models.protocol import LanguageModel
from serving_api.accounts.model import User
from serving_api.analysis.service import analyses_of
from serving_api.chat import composing, rules
from serving_api.chat.checked import Checker, evidence_items
from serving_api.chat.companies import pack_of
from serving_api.chat.guard import harmless
from serving_api.state import State

_INSTRUCTION = "写这家公司的分析结论，不超过500字：经营、估值、资金、风险，最后一句写缺少哪些数据。"


async def analyse(
    state: State, user: User, model: LanguageModel | None, code: str, *, refresh: bool
) -> dict[str, Any]:
    """The body of the answer. Raises NotFound."""
    pack, names = await pack_of(state, (code,))
    checker = Checker(pack, "", [one.name for one in (await state.stocks.directory()).listings])
    sections = [
        {"key": one.key, "title": one.title, "lines": [checker.show(line) for line in one.lines]}
        for one in rules.of_company(pack, names[code])
    ]
    missing = "、".join(pack.missing)
    if missing:
        sections.append({"key": "missing", "title": "没有找到的数据", "lines": [harmless(missing)]})
    written = await composing.compose(state, user, model, checker, "analysis", _INSTRUCTION, key=code)
    scores, total = await analyses_of(state).scores(code)
    text = written.text or "\n".join(
        (f"（{rules.LABEL}）", *(one["lines"][0] for one in sections if one["key"] != "missing"))
    )
    return {
        "code": code, "name": names[code], "report": {"sections": sections},
        "scores": scores, "total_score": total, "conclusion": text,
        "cached": written.told.get("fallbackOf") == "cached", **written.told,
        "evidence": evidence_items(pack, checker.ledger.facts),
    }  # fmt: skip
