"""The messages API of Anthropic, through its official library."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic

from resources.models import protocol
from resources.models.failures import declined
from resources.models.profiles import messages_address
from resources.models.providers import Provider
from resources.models.streaming import Adapter, tool_call

_STOPS: dict[str, protocol.Stop] = {
    "tool_use": "tools", "max_tokens": "length", "model_context_window_exceeded": "length",
    "refusal": "filtered",
}  # fmt: skip
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class AnthropicMessages(Adapter):
    """One model."""

    library = anthropic

    def client(self, **common: Any) -> Any:
        # An explicit address: the library would take one of the environment for every provider.
        return anthropic.AsyncAnthropic(
            base_url=messages_address(self.provider.base_url or "https://api.anthropic.com"), **common
        )

    def calls(self, client: Any) -> Any:
        return client.messages

    def answer(self, prompt: protocol.Prompt) -> "_Answer":
        return _Answer()

    def request(self, prompt: protocol.Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.provider.model,
            "max_tokens": prompt.max_tokens,
            "messages": [turn for turn in map(_turn, prompt.messages) if turn["content"]],
        }
        if prompt.system:
            request["system"] = prompt.system
        if prompt.tools:
            request["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
                for tool in prompt.tools
            ]
        return request


@dataclass
class _Answer:
    """An answer as it grows, by block."""

    model: str = ""
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    stop: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    def take(self, event: Any) -> Iterator[protocol.Part]:
        if event.type == "message_start":
            self.model = str(event.message.model)
            self._count(event.message.usage)
        elif event.type == "content_block_start":
            self.blocks[event.index] = {**event.content_block.to_dict(), "json": ""}
            first = str(self.blocks[event.index].get("text") or "")
            if first:
                yield protocol.TextPart(first)
        elif event.type == "content_block_delta":
            yield from self._grow(self.blocks[event.index], event.delta)
        elif event.type == "message_delta":
            self.stop = event.delta.stop_reason or self.stop
            self._count(event.usage)

    def _grow(self, block: dict[str, Any], delta: Any) -> Iterator[protocol.Part]:
        if delta.type == "text_delta":
            block["text"] += delta.text
            if delta.text:
                yield protocol.TextPart(delta.text)
        elif delta.type == "thinking_delta":
            block["thinking"] += delta.thinking
            if delta.thinking:
                yield protocol.ReasoningPart(delta.thinking)
        elif delta.type == "signature_delta":
            block["signature"] = delta.signature
        elif delta.type == "input_json_delta":
            block["json"] += delta.partial_json

    def _count(self, usage: Any) -> None:
        """Counts are cumulative; those of the start hold until newer ones come."""
        read = [usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens]
        self.input_tokens = max(self.input_tokens, sum(count or 0 for count in read))
        self.output_tokens = max(self.output_tokens, usage.output_tokens or 0)

    def reply(self, provider: Provider) -> protocol.Reply:
        blocks = [self.blocks[index] for index in sorted(self.blocks)]
        text = "".join(str(block["text"]) for block in blocks if block["type"] == "text")
        kept = tuple(
            {name: value for name, value in block.items() if name != "json"}
            for block in blocks if block["type"] in _THOUGHTS
        )  # fmt: skip
        calls = tuple(
            tool_call(str(block["id"]), str(block["name"]), block["json"] or json.dumps(block["input"]), kept)
            for block in blocks if block["type"] == "tool_use"
        )  # fmt: skip
        if self.stop == "refusal" and not text and not calls:
            raise declined(provider.name)
        return protocol.Reply(
            text, calls, provider.name, self.model or provider.model,
            protocol.Usage(self.input_tokens, self.output_tokens), _STOPS.get(self.stop or "", "end"),
        )  # fmt: skip


def _turn(message: protocol.Message) -> dict[str, Any]:
    """Content blocks of a message: tool results first, as the API requires; an empty text gives no block."""
    content: list[dict[str, Any]] = [
        {
            "type": "tool_result", "tool_use_id": result.call_id, "content": result.text,
            "is_error": result.is_error,
        }
        for result in message.results
    ]  # fmt: skip
    # The model's thinking before its calls has to be sent back with them unchanged.
    kept = next((call.kept for call in message.calls if call.kept), ())
    content += [dict(block) for block in kept if block.get("type") in _THOUGHTS]
    if message.text:
        content.append({"type": "text", "text": message.text})
    content += [_call(call) for call in message.calls]
    return {"role": message.role, "content": content}


def _call(call: protocol.ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments or {})}
