"""The chat completions API of many providers and local servers, through the `openai` library.

The library sends; the answer is read here, since servers send events, or one JSON, or a web page.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import openai

from resources.models.failures import CallFailed, declined, failed_inside, is_page, page, unreadable
from resources.models.profiles import chat_addresses, profile_of
from resources.models.protocol import Message, Part, Prompt, ReasoningPart, Reply, Stop, TextPart, Usage
from resources.models.providers import TIMEOUT_S, Provider
from resources.models.spoken import Spoken
from resources.models.streaming import Adapter, tool_call

_STOPS: dict[str, Stop] = {
    "tool_calls": "tools", "function_call": "tools", "length": "length", "max_tokens": "length",
    "content_filter": "filtered", "sensitive": "filtered", "safety": "filtered",
}  # fmt: skip
_THOUGHTS = ("reasoning_content", "reasoning")
"""Non-standard fields in which providers send the thinking of a model."""
_RETURNED = (*_THOUGHTS, "reasoning_details")
"""What has to go back with a call of a tool, in the field that it came in."""
_OPTIONAL = ("max_completion_tokens", "max_tokens", "stream_options", "tools", *_RETURNED, "extra_content")
"""What a request may go without, in the order in which a refusal is searched for them."""


class OpenAIChat(Adapter):
    """One model. What its server refused once is left out from then on."""

    library = openai

    def __init__(self, provider: Provider, timeout_s: float = TIMEOUT_S) -> None:
        self._addresses = list(chat_addresses(provider.base_url))
        profile = profile_of(provider.base_url)
        self._limit, self._room = profile.limit, profile.room
        self._without: set[str] = set()
        super().__init__(provider, timeout_s)

    def client(self, **common: Any) -> Any:
        return openai.AsyncOpenAI(
            base_url=self._addresses[0],
            # The library would send the organization of the environment to every provider.
            default_headers={"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()},  # type: ignore[dict-item]  # its own way to leave a header out
            **common,
        )

    def calls(self, client: Any) -> Any:
        return client.chat.completions.with_raw_response

    def events(self, response: Any) -> "_Chunks":
        return _Chunks(response.http_response, self.provider.name)

    def answer(self, prompt: Prompt) -> "_Answer":
        return _Answer(Spoken.of(self.provider.model, [tool.name for tool in prompt.tools]))

    def request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.provider.model,
            "messages": [turn for message in prompt.messages for turn in self._turns(message)],
            "stream_options": {"include_usage": True},
            self._limit: prompt.max_tokens * self._room,
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
        return {name: value for name, value in request.items() if name not in self._without}

    def mend(self, failed: CallFailed) -> bool:
        if failed.status == 404 and failed.is_address and len(self._addresses) > 1:
            del self._addresses[0]
            self._forget_clients()
            return True
        if failed.status not in (400, 422):
            return False
        named = next((name for name in _OPTIONAL if re.search(rf"\b{name}\b", failed.reason)), None)
        if named is None or named in self._without:
            return False
        if named == "max_completion_tokens" and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
        else:
            self._without.add(named)
        return True

    def _turns(self, message: Message) -> Iterator[dict[str, Any]]:
        """Each result of a call is a turn of its own; this protocol has no field for a failed one."""
        for result in message.results:
            yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
        if message.calls:
            kept = next((dict(call.kept[0]) for call in message.calls if call.kept), {})
            yield {
                "role": "assistant",
                "content": message.text or None,
                **self._allowed(kept.get("message", {})),
                "tool_calls": [
                    {
                        "id": call.id, "type": "function",
                        "function": {
                            "name": call.name,
                            "arguments": json.dumps(dict(call.arguments or {}), ensure_ascii=False),
                        },
                        **self._allowed(call.kept[0].get("call", {}) if call.kept else {}),
                    }
                    for call in message.calls
                ],
            }  # fmt: skip
        elif message.text:
            yield {"role": message.role, "content": message.text}

    def _allowed(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if name not in self._without}


class _Chunks:
    """The documents of an answer: of its events, or the one that it is as a whole. The last one of a whole
    answer is `{"done": True}`."""

    def __init__(self, response: Any, provider_name: str) -> None:
        self._response = response
        self._name = provider_name

    async def __aenter__(self) -> "_Chunks":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._response.aclose()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        rest = []  # lines that are no events: an answer, or an error, that is JSON as a whole
        async for line in _lines(self._response.aiter_bytes()):
            name, colon, data = line.partition(b":")
            if name == b"data" and colon:
                if data.strip() == b"[DONE]":
                    yield {"done": True}
                    return
                yield self._document(data)
            elif name not in (b"", b"event", b"id", b"retry"):
                rest.append(line)
        if rest:
            yield self._document(b"\n".join(rest))
            yield {"done": True}

    def _document(self, data: bytes) -> dict[str, Any]:
        """Raises CallFailed for an error in place of an answer, and for a web page."""
        text = data.decode().strip()
        if is_page(text):
            raise page(self._name)
        document = json.loads(text)
        if isinstance(document, list) and document:  # Gemini puts its errors in a list
            document = document[0]
        if not isinstance(document, dict):
            raise unreadable(self._name)
        status = document.get("base_resp") or {}  # MiniMax says its errors here
        error = document.get("error") or (status if status.get("status_code") else None)
        if error:
            raise failed_inside(error, self._name)
        return document


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines without their ends. Bytes, since a piece may end within a character, and since a text
    may hold other ends of lines than these."""
    left = b""
    async for piece in pieces:
        *whole, left = (left + piece).split(b"\n")
        for line in whole:
            yield line.rstrip(b"\r")
    if left.strip():
        yield left.rstrip(b"\r")


@dataclass
class _Call:
    index: int | None = None
    id: str = ""
    name: str = ""
    raw: str = ""
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(self.raw), dict)
        except ValueError:
            return False


@dataclass
class _Answer:
    """An answer as it grows."""

    spoken: Spoken
    model: str = ""
    text: str = ""
    calls: list[_Call] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    stop: str | None = None
    usage: Usage = field(default_factory=Usage)

    def take(self, chunk: dict[str, Any]) -> Iterator[Part]:
        if chunk.get("done"):
            self.stop = self.stop or "stop"
            return
        self.model = str(chunk.get("model") or self.model)
        usage = chunk.get("usage")
        if usage:
            self.usage = Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") or choice.get("message") or {}
            yield from self._grown(delta)
            self.stop = choice.get("finish_reason") or self.stop
            if self.stop:
                yield from self._said(self.spoken.finish())

    def _grown(self, delta: dict[str, Any]) -> Iterator[Part]:
        for name in _RETURNED:
            value = delta.get(name)
            if value and isinstance(value, str | list):
                self.kept[name] = self.kept.get(name, type(value)()) + value
        thought = next((delta[name] for name in _THOUGHTS if isinstance(delta.get(name), str)), "")
        if thought:
            self.spoken.is_open = False
            yield ReasoningPart(thought)
        yield from self._said(self.spoken.feed(_text(delta.get("content") or delta.get("refusal") or "")))
        for call in delta.get("tool_calls") or []:
            self._grow(call)

    def _said(self, parts: Iterator[tuple[str, str]]) -> Iterator[Part]:
        for kind, text in parts:
            if kind == "thought":
                if self.spoken.ended_late:
                    self.text, self.spoken.ended_late = "", False
            else:
                self.text += text
                yield TextPart(text)

    def _grow(self, delta: dict[str, Any]) -> None:
        """Servers leave out the index, repeat it for each call, or repeat id and name with each piece."""
        index, call_id = delta.get("index"), delta.get("id") or ""
        function = delta.get("function") or {}
        name = function.get("name") or ""
        same = [call for call in self.calls if index is None or call.index == index]
        call = same[-1] if same else None
        if call is None or (call_id and call.id and call_id != call.id) or (
            name and not call_id and call.is_whole
        ):  # fmt: skip
            call = _Call(index)
            self.calls.append(call)
        call.id, call.name = call_id or call.id, name or call.name
        arguments = function.get("arguments") or ""
        call.raw += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        call.kept |= {key: delta[key] for key in ("extra_content",) if delta.get(key)}

    def reply(self, provider: Provider) -> Reply:
        written = [_Call(None, "", name, raw) for name, raw in self.spoken.calls]
        calls, ids = [], set[str]()
        for place, call in enumerate((*self.calls, *written)):
            call_id = f"call_{place}" if not call.id or call.id in ids else call.id
            ids.add(call_id)
            kept = {"message": self.kept, "call": call.kept} if self.kept or call.kept else None
            calls.append(tool_call(call_id, call.name, call.raw, (kept,) if kept else ()))
        stop = _STOPS.get((self.stop or "").lower(), "end")
        if stop == "filtered" and not self.text and not calls:
            raise declined(provider.name)
        return Reply(
            self.text, tuple(calls), provider.name, self.model or provider.model, self.usage,
            "tools" if calls and stop == "end" else stop,
        )  # fmt: skip


def _text(content: str | list[dict[str, Any]]) -> str:
    """Some servers send the content in parts, of which those of type `text` are the answer."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in content if part.get("type") in (None, "text"))
