"""A text that a model writes about a pack, after checking; the rules are used when the model fails."""

import logging
from dataclasses import dataclass, field
from typing import Any

from core.errors import PlatformError, Refused
from resources.models.protocol import LanguageModel, Message, Prompt
from resources.transport.redact import redact
from serving_api.auth.model import User
from serving_api.chat import prompts, receipts, rules
from serving_api.chat.answering import FAILED, MODEL, REFUSED, UNSUPPORTED
from serving_api.chat.checked import Checker
from serving_api.framework.state import State

log = logging.getLogger("serving_api.chat")


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
        why = REFUSED if isinstance(error, Refused) else FAILED
        if before is None:
            return _by_rules(why)
        reported = {"provenance": MODEL, "label": None, "model": before["model"]}
        return Composed(before["answer"]["text"], {**reported, "llmError": why, "fallbackOf": "cached"})
    if checked.unbound or not checked.text.strip():
        return _by_rules(UNSUPPORTED)
    text = checker.ledger.take(checked)
    receipt = {
        "provenance": MODEL, "provider": reply.provider, "model": reply.model,
        "prompt_hash": prompts.hash_of_prompt(prompt), "as_of": checker.pack.as_of, "asked_again": False,
        "pack": [fact.plain() for fact in checker.pack.facts], "missing": checker.pack.missing,
        "bindings": [
            {"text": one.text, "facts": list(one.facts), "how": one.how} for one in checker.ledger.bound
        ],
        "unbound": [], "answer": {"text": text},
    }  # fmt: skip
    await receipts.keep(state, user, kind, question, receipt)
    return Composed(text, {"provenance": MODEL, "label": None, "model": reply.model})


def _by_rules(why: str) -> Composed:
    reported = {"provenance": rules.PREFILL, "label": rules.LABEL}
    return Composed(None, {**reported, "llmError": why, "fallbackOf": rules.PREFILL})
