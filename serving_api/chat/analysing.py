"""The report on one company: the analysis of /analysis, and sections of the company's evidence pack."""

import re
from collections.abc import Mapping
from typing import Any

from platform_assets.compute.evidence.binding import CITATION
from serving_api.analysis.service import Analyses
from serving_api.chat import rules
from serving_api.chat.checked import Checker, evidence_items, shown_item
from serving_api.chat.subjects import pack_of
from serving_api.evidence.guard import harmless
from serving_api.framework.state import State
from serving_api.stocks.service import Stocks

OFFSET = 1000
"""First number of the facts of the sections: the analysis has fact numbers of its own."""


async def analyse(state: State, code: str, *, refresh: bool) -> dict[str, Any]:
    """The body of the answer. Raises NotFound, StorageError."""
    pack, names = await pack_of(state, (code,))
    analyses = state.part(Analyses)
    before = await analyses.current(code)
    reported = await analyses.run(code, refresh=refresh)
    checker = Checker(pack, "", [one.name for one in (await state.part(Stocks).directory()).listings])
    of_pack = [
        {"key": one.key, "title": one.title, "lines": [_moved(checker.show(line)) for line in one.lines]}
        for one in rules.of_company(pack, names[code])
    ]
    missing = [{"key": "missing", "title": "没有找到的数据", "lines": [harmless("、".join(pack.missing))]}]
    dimensions = [
        {"key": key, "title": part["label"], "lines": [line for line in part["text"].split("\n") if line]}
        for key, part in (reported.get("sections") or {}).items()
    ]
    own = [{**item, "id": _moved_id(item["id"])} for item in evidence_items(pack, checker.ledger.facts)]
    failure: dict[str, Any] = {
        name: reported[name] for name in ("llmError", "fallbackOf") if name in reported
    }
    return {
        "code": code, "name": names[code],
        "report": {"sections": [*dimensions, *of_pack, *(missing if pack.missing else [])]},
        **{name: reported[name] for name in ("scores", "total_score", "conclusion")},
        "cached": failure.get("fallbackOf") == "cached" or (not refresh and _is_same(before, reported)),
        **{name: reported[name] for name in ("provenance", "label", "model")}, **failure,
        "evidence": [*map(shown_item, reported["evidence"] or []), *own],
    }  # fmt: skip


def _is_same(before: Mapping[str, Any], reported: Mapping[str, Any]) -> bool:
    """Whether the answer is the stored analysis."""
    return all(
        before.get(name) == reported.get(name) for name in ("date", "provenance", "conclusion", "receipt")
    )


def _moved_id(number: str) -> str:
    return f"E{int(number[1:]) + OFFSET}"


def _moved(line: str) -> str:
    return re.sub(CITATION, lambda found: f"[{_moved_id(found.group(1))}]", line)
