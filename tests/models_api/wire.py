"""Frames of the two streaming protocols as their documentation shows them, byte for byte."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Asks:
    """A call of a tool. `arguments`: a text goes out as it is, no JSON maybe."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""

    @property
    def raw(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(dict(self.arguments), ensure_ascii=False)


@dataclass(frozen=True)
class Reported:
    """The content of a stream: `text`, `thinking` and `arguments` in the chunks in which they are sent."""

    model: str
    text: Sequence[str] = ()
    thinking: Sequence[str] = ()
    calls: Sequence[tuple[Asks, Sequence[str]]] = ()
    stop: str = ""
    usage: tuple[int, int] = (100, 20)
    id: str = "msg_fake"
    created: int = 1_787_000_000
    fingerprint: str | None = None


def anthropic_frames(reported: Reported) -> Iterator[bytes]:
    """A whole stream of the messages API."""
    yield _event(
        "message_start",
        message={
            "id": reported.id, "type": "message", "role": "assistant", "model": reported.model, "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {
                "input_tokens": reported.usage[0], "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "output_tokens": 1, "service_tier": "standard",
            },
        },
    )  # fmt: skip
    ping = [PING]
    for index, (kind, block, deltas) in enumerate(_blocks(reported)):
        yield _event("content_block_start", index=index, content_block={"type": kind, **block})
        yield from ping
        ping = []
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = reported.stop or ("tool_use" if reported.calls else "end_turn")
    yield _event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": reported.usage[1]},
    )
    yield _event("message_stop")


PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def anthropic_error(kind: str, message: str) -> bytes:
    """The body of an error; in a stream it is the data of an event `error`."""
    return _json({"type": "error", "error": {"type": kind, "message": message}})


def error_event(kind: str, message: str) -> bytes:
    return b"event: error\ndata: " + anthropic_error(kind, message) + b"\n\n"


def _blocks(reported: Reported) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """(kind, the rest of its start, its deltas)."""
    if reported.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in reported.thinking]
        signed = {"type": "signature_delta", "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}
        yield "thinking", {"thinking": "", "signature": ""}, [*deltas, signed]
    if reported.text or not reported.calls:
        yield "text", {"text": ""}, [{"type": "text_delta", "text": piece} for piece in reported.text]
    for place, (call, pieces) in enumerate(reported.calls):
        start = {
            "id": call.id or f"toolu_{place}", "name": call.name, "caller": {"type": "direct"}, "input": {},
        }  # fmt: skip
        yield (
            "tool_use",
            start,
            [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)],
        )


def openai_frames(reported: Reported) -> Iterator[bytes]:
    """A whole stream of the chat completions API, usage included. A call that is the whole answer is in the
    first chunk."""

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        return _chunk(
            reported, choices=[{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        )

    def begin(index: int) -> dict[str, Any]:
        call = reported.calls[index][0]
        return {"tool_calls": [{
            "index": index, "id": call.id or f"call_{index}", "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]}  # fmt: skip

    lone = len(reported.calls) == 1 and not reported.text and not reported.thinking
    if lone:
        yield chunk({"role": "assistant", "content": None, **begin(0), "refusal": None})
    elif reported.text or reported.thinking or not reported.calls:
        yield chunk({"role": "assistant", "content": "", "refusal": None})
    else:
        yield chunk({"role": "assistant", "content": None})
    for piece in reported.thinking:
        yield chunk({"reasoning_content": piece})
    for piece in reported.text:
        yield chunk({"content": piece})
    for index, (_, pieces) in enumerate(reported.calls):
        if not lone:
            yield chunk(begin(index))
        for piece in pieces:
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, reported.stop or ("tool_calls" if reported.calls else "stop"))
    prompt, completion = reported.usage
    counts = {
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    yield _chunk(reported, choices=[], usage=counts)
    yield DONE


def openai_error(kind: str, message: str) -> bytes:
    return _json({"error": {"message": message, "type": kind, "param": None, "code": kind}})


def _chunk(reported: Reported, **rest: Any) -> bytes:
    head = {
        "id": reported.id, "object": "chat.completion.chunk", "created": reported.created,
        "model": reported.model,
        "system_fingerprint": reported.fingerprint,
    }  # fmt: skip
    return b"data: " + _json({**head, **rest}) + b"\n\n"


def _event(name: str, **rest: Any) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + _json({"type": name, **rest}) + b"\n\n"


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
