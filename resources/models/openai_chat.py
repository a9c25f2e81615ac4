"""The chat completions API of many providers and local servers, through the `openai` library."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import openai

from resources.models.failures import declined
from resources.models.protocol import Message, Part, Prompt, ReasoningPart, Reply, Stop, TextPart, Usage
from resources.models.providers import OPENAI_ADDRESS, Provider
from resources.models.streaming import Adapter, tool_call

_STOPS: dict[str, Stop] = {"tool_calls": "tools", "function_call": "tools", "length": "length"}
_THOUGHTS = ("reasoning_content", "reasoning")
"""Non-standard fields in which providers send the thinking of a model."""


class OpenAIChat(Adapter):
    """One model."""

    library = openai

    def client(self, **common: Any) -> Any:
        return openai.AsyncOpenAI(
            base_url=self.provider.base_url,
            # The library would send the organization of the environment to every provider.
            default_headers={"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()},  # type: ignore[dict-item]  # its own way to leave a header out
            **common,
        )

    def calls(self, client: Any) -> Any:
        return client.chat.completions

    def answer(self) -> "_Answer":
        return _Answer()

    def request(self, prompt: Prompt) -> dict[str, Any]:
        limit = "max_completion_tokens" if self.provider.base_url == OPENAI_ADDRESS else "max_tokens"
        request: dict[str, Any] = {
            "model": self.provider.model,
            "messages": [turn for message in prompt.messages for turn in _turns(message)],
            "stream_options": {"include_usage": True},
            limit: prompt.max_tokens,
        }
        if prompt.system:
            request["messages"].insert(0, {"role": "system", "content": prompt.system})
        if prompt.tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name, "description": tool.description, "parameters": dict(tool.schema),
                    },
                }
                for tool in prompt.tools
            ]  # fmt: skip
        return request


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    raw: str = ""


@dataclass
class _Answer:
    """An answer as it grows."""

    model: str = ""
    text: str = ""
    calls: dict[int, _Call] = field(default_factory=dict)
    stop: str | None = None
    usage: Usage = field(default_factory=Usage)

    def take(self, chunk: Any) -> Iterator[Part]:
        self.model = str(chunk.model or self.model)
        if chunk.usage is not None:
            self.usage = Usage(chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0)
        for choice in chunk.choices or []:
            self.stop = choice.finish_reason or self.stop
            delta = choice.delta
            if delta is None:
                continue
            extra = delta.model_extra or {}
            thought = next((extra[name] for name in _THOUGHTS if isinstance(extra.get(name), str)), "")
            if thought:
                yield ReasoningPart(thought)
            said = delta.content or delta.refusal
            if said:
                self.text += said
                yield TextPart(said)
            for one in delta.tool_calls or []:
                self._grow(one)

    def _grow(self, delta: Any) -> None:
        """Some servers send each call whole and without an index."""
        index = delta.index
        if index is None:
            index = len(self.calls) if delta.id or not self.calls else len(self.calls) - 1
        call = self.calls.setdefault(index, _Call())
        call.id = delta.id or call.id
        if delta.function is not None:
            call.name = delta.function.name or call.name
            call.raw += delta.function.arguments or ""

    def reply(self, provider: Provider) -> Reply:
        if self.stop == "content_filter" and not self.text and not self.calls:
            raise declined(provider.name)
        calls = tuple(
            tool_call(call.id or f"call_{index}", call.name, call.raw)
            for index, call in sorted(self.calls.items())
        )
        stop = _STOPS.get(self.stop or "", "end")
        return Reply(
            self.text, calls, provider.name, self.model or provider.model, self.usage,
            "tools" if calls and stop == "end" else stop,
        )  # fmt: skip


def _turns(message: Message) -> Iterator[dict[str, Any]]:
    """Each result of a call is a turn of its own; this protocol has no field for a failed one."""
    for result in message.results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    if message.calls:
        yield {
            "role": "assistant",
            "content": message.text or None,
            "tool_calls": [
                {
                    "id": call.id, "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(dict(call.arguments or {}), ensure_ascii=False),
                    },
                }
                for call in message.calls
            ],
        }  # fmt: skip
    elif message.text:
        yield {"role": message.role, "content": message.text}
