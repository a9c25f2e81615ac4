"""One question to one provider, to see whether it answers and, where it does not, what it says."""

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from core.errors import PlatformError
from resources.models.factory import adapter_of
from resources.models.failures import CallFailed
from resources.models.protocol import Message, Prompt, Reply, ToolSpec
from resources.models.providers import Provider
from resources.redact import MASK, redact

_PROMPT = Prompt(
    "", [Message("user", "Call the tool `ping` with word=pong. If you have no tools, answer: pong")],
    [ToolSpec("ping", "answers a ping", {"type": "object", "properties": {"word": {"type": "string"}}})],
    max_tokens=300,
)  # fmt: skip
TRY_S = 20.0
_SHOWN = 300


@dataclass(frozen=True)
class Tried:
    """`error`: why there was no answer; `reason`: the provider's own words, without keys. `first_s` and
    `seconds`: until the first part and until the end. `calls_tools`: whether it called the given tool."""

    provider: str
    model: str
    seconds: float
    first_s: float | None = None
    calls_tools: bool = False
    error: PlatformError | None = None
    reason: str = ""


async def tried(provider: Provider, monotonic: Callable[[], float] = time.monotonic) -> Tried:
    """With the provider's first key. The question is our own, so its error may be shown."""
    adapter, begun, first = adapter_of(provider, TRY_S), monotonic(), None
    try:
        async with aclosing(adapter.stream(_PROMPT, (*provider.keys, "")[0])) as parts:
            async for part in parts:
                first = monotonic() - begun if first is None else first
                if isinstance(part, Reply):
                    return Tried(provider.name, part.model, monotonic() - begun, first, bool(part.calls))
    except CallFailed as failed:
        reason = failed.reason
        for key in provider.keys:
            reason = reason.replace(key, MASK)
        reason = redact(reason)[:_SHOWN]
        return Tried(
            provider.name, provider.model, monotonic() - begun, first, error=failed.error, reason=reason
        )
    finally:
        await adapter.close()
    raise AssertionError("a stream ends with its reply or an error")
