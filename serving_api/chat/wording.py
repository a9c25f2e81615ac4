"""A question as the route received it, and the properties of its answer besides the text."""

from dataclasses import dataclass, field
from typing import Any, Literal

from resources.models.protocol import Usage
from serving_api.chat import receipts, rules
from serving_api.chat.limits import HISTORY


@dataclass(frozen=True)
class Asked:
    """A question as the route received it."""

    message: str
    history: tuple[tuple[str, str], ...] = ()
    code: str | None = None
    mode: str = "chat"
    model: str | None = None
    web_search: bool | None = None
    skills: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: Any, model: str | None = None) -> "Asked":
        """`body` has the fields of `schemas.Ask`, except the model."""
        history = tuple((turn.role, turn.content) for turn in body.history)
        skills = tuple(body.skills)
        return cls(body.message, history, body.code, body.mode, model, body.web_search, skills)

    @property
    def used(self) -> tuple[tuple[str, str], ...]:
        """The turns of the history that are used."""
        return self.history[-HISTORY:]

    @property
    def words(self) -> str:
        """All messages of the user, this one included."""
        return "\n".join((*(text for role, text in self.used if role == "user"), self.message))

    @property
    def hash(self) -> str:
        """A hash that is equal for equal questions."""
        turns = [f"{role}:{text}" for role, text in self.used]
        return receipts.hash_of(self.message, self.code or "", self.mode, *turns)


@dataclass
class AnswerProperties:
    """Properties of an answer besides its text."""

    provenance: str = rules.PREFILL
    provider: str | None = None
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    llm_error: str | None = None
    fallback_of: str | None = None
    asked_again: bool = False
    incomplete: Literal["length", "filtered"] | None = None

    @property
    def label(self) -> str | None:
        return rules.LABEL if self.provenance == rules.PREFILL else None

    def plain(self) -> dict[str, Any]:
        """Keys that answers and receipts share; a failure only when there was one."""
        reported: dict[str, Any] = {
            "provenance": self.provenance, "label": self.label, "model": self.model,
            "usage": {"input_tokens": self.usage.input_tokens, "output_tokens": self.usage.output_tokens},
        }  # fmt: skip
        if self.incomplete is not None:
            reported["incomplete"] = self.incomplete
        if self.llm_error is not None:
            reported |= {"llmError": self.llm_error, "fallbackOf": self.fallback_of}
        return reported
