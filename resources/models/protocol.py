"""Prompts to language models and their replies, the same for all providers.

Errors are of the family: `Refused` where the provider refuses the credentials (401, 403, an invalid key), or
did so less than 30 s ago, `QuotaExhausted` where the account is not paid for or its quota is used up,
`Transient` where timeouts, 429 and 5xx outlasted retries and fallback models, `WrongName` where there is no
such model or no model behind the address, `Declined` where the model will not answer, `Permanent` where it
cannot take the request, `PayloadError` where the answer cannot be read, `Unavailable` where all models rest
after failures, `InputError` for a `model` that is not configured.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Stop = Literal["end", "tools", "length", "filtered"]
"""`length`, `filtered`: the text is not whole, by the limit of tokens or by the provider's filter."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool that a model may call; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that a model asks for. `arguments` is None when what it wrote is no JSON object (`raw`). `kept`
    is what its provider requires back with the call: pass the calls of a reply on unchanged."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""
    kept: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class ToolResult:
    """The result of a call, as the model reads it."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Message:
    """One turn. Calls belong to the assistant, results to the user's turn that follows."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """One prompt for a model."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    max_tokens: int = 4096


@dataclass(frozen=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Reply:
    """A whole answer. `model` is the one that gave it, a fallback maybe."""

    text: str
    calls: tuple[ToolCall, ...]
    provider: str
    model: str
    usage: Usage
    stop: Stop


@dataclass(frozen=True)
class TextPart:
    """The next part of the answer's text."""

    text: str


@dataclass(frozen=True)
class ReasoningPart:
    """The next part of the model's visible thinking."""

    text: str


Part = TextPart | ReasoningPart | Reply
"""What a stream gives: parts as they come, then the whole reply, once, as the last."""


class LanguageModel(Protocol):
    """The configured models as one. Leaving a stream before its end (closing the iterator, cancelling the
    task) ends the request to the provider."""

    @property
    def names(self) -> Sequence[str]:
        """What `model` may name: providers and models, the active ones first."""
        ...

    async def reply(self, prompt: Prompt, *, model: str | None = None) -> Reply:
        """The whole answer. `model`: one of the configured names; None: the active one."""
        ...

    def stream(self, prompt: Prompt, *, model: str | None = None) -> AsyncGenerator[Part, None]:
        """The answer as it comes. What was given before a failure is not taken back: fallback to another
        model only happens before the first part."""
        ...
