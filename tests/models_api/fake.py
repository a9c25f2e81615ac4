"""A provider of models on loopback with a script: the messages API and the chat completions API over HTTP.

    with fake_models("三个问题。", Fails(529), Asks("quote", {"code": "600519"})) as fake:
        settings = load_settings({"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": fake.url})
        ...
        assert fake.asked[0].said == "..."        # the prompt that the model got
        assert fake.asked[0].gone                 # the client disconnected before the end

The script is a list of replies, the last of which repeats, or a function of the prompt. A reply is a text,
`Says` (pieces, thinking, tool calls, pauses, where it breaks), `Asks` (a tool call), `Fails` (a status), or
`Silent` (takes the request and says nothing). `fake.url` is the base address of the messages API, `fake.v1`
that of chat completions.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import uvicorn

from tests.models_api.wire import (
    PING,
    Asks,
    Reported,
    anthropic_error,
    anthropic_frames,
    error_event,
    openai_error,
    openai_frames,
)

PIECE = 6
"""Characters of a text that go out at once."""


@dataclass(frozen=True)
class Says:
    """An answer. `text` and `thinking`: a sequence is sent in these chunks. `stop`: the stop reason of the
    protocol, when it is not the usual one. `first_s`, `pause_s`: seconds before the first frame and between
    frames. `cut_after`: the connection breaks after so many frames; `ends_after`: the stream ends there as if
    it were whole; `error_after`: there an error of this kind comes. `raw`: these bytes instead of frames."""

    text: str | Sequence[str] = ""
    calls: Sequence[Asks] = ()
    thinking: str | Sequence[str] = ""
    stop: str = ""
    usage: tuple[int, int] = (100, 20)
    first_s: float = 0.0
    pause_s: float = 0.0
    cut_after: int | None = None
    ends_after: int | None = None
    error_after: tuple[int, str] | None = None
    raw: bytes | None = None


@dataclass(frozen=True)
class Fails:
    """An error before any stream. `message` as a provider might write it."""

    status: int
    kind: str = ""
    message: str = "it failed"
    retry_after: str = ""
    location: str = ""


@dataclass(frozen=True)
class Silent:
    """Takes the request and never answers. `pings`: it begins a stream and only shows that it lives."""

    pings: bool = False


Reply = str | Says | Asks | Fails | Silent


@dataclass
class Asked:
    """One request as it came, and what became of it."""

    protocol: str
    path: str
    key: str
    headers: dict[str, str]
    body: dict[str, Any]
    sent: list[bytes] = field(default_factory=list)
    whole: bool = False
    gone: bool = False

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    @property
    def system(self) -> str:
        """The instructions of the prompt."""
        if self.protocol == "anthropic":
            return str(self.body.get("system") or "")
        return "".join(str(turn["content"]) for turn in self.body["messages"] if turn["role"] == "system")

    @property
    def said(self) -> str:
        """The text of the last turn of the user."""
        turns = [turn for turn in self.body["messages"] if turn["role"] == "user"]
        content = turns[-1]["content"] if turns else ""
        if isinstance(content, str):
            return content
        return "".join(str(block["text"]) for block in content if block["type"] == "text")

    @property
    def results(self) -> list[str]:
        """The results of tools at the end of the prompt."""
        if self.protocol == "openai":
            return [str(turn["content"]) for turn in self.body["messages"] if turn["role"] == "tool"]
        content = self.body["messages"][-1]["content"]
        return [str(block["content"]) for block in content if block["type"] == "tool_result"]


Script = Callable[[Asked], Reply]


class FakeModels:
    """The server's memory and script; `then` changes the script."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self._script = script
        self.address = ""

    @property
    def url(self) -> str:
        return self.address

    @property
    def v1(self) -> str:
        return f"{self.address}/v1"

    def then(self, *replies: Reply | Script) -> None:
        self._script = script_of(replies)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        asked = await _read(scope, receive)
        self.asked.append(asked)
        reply = self._script(asked) if asked.protocol else Fails(404, "not_found_error")
        goes = asyncio.create_task(_gone(receive, asked))
        answers = asyncio.create_task(_answer(asked, _plain(reply), send))
        await asyncio.wait({goes, answers}, return_when=asyncio.FIRST_COMPLETED)
        goes.cancel()
        if asked.gone:
            answers.cancel()
        with suppress(asyncio.CancelledError):
            await answers


class Broken(Exception):
    """Ends the connection in the middle of a stream."""


def _plain(reply: Reply) -> Says | Fails | Silent:
    if isinstance(reply, str):
        return Says(reply)
    return Says(calls=[reply]) if isinstance(reply, Asks) else reply


async def _read(scope: Any, receive: Any) -> Asked:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    protocol = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai"}.get(scope["path"], "")
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    return Asked(protocol, scope["path"], key, headers, json.loads(body or b"{}"))


async def _gone(receive: Any, asked: Asked) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    asked.gone = not asked.whole


async def _answer(asked: Asked, reply: Says | Fails | Silent, send: Any) -> None:
    if isinstance(reply, Fails):
        error = anthropic_error if asked.protocol == "anthropic" else openai_error
        headers = [(b"content-type", b"application/json")]
        reported = (("retry-after", reply.retry_after), ("location", reply.location))
        headers += [(name.encode(), value.encode()) for name, value in reported if value]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        asked.whole = True
        await send({"type": "http.response.body", "body": error(reply.kind, reply.message)})
        return
    if isinstance(reply, Silent) and not reply.pings:
        await asyncio.Event().wait()
    await asyncio.sleep(reply.first_s if isinstance(reply, Says) else 0)
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while isinstance(reply, Silent):
        await send({"type": "http.response.body", "body": PING, "more_body": True})
        await asyncio.sleep(0.02)
    frames = _frames(asked, reply)
    for count, frame in enumerate(frames):
        if count == reply.cut_after:
            raise Broken
        asked.sent.append(frame)
        asked.whole = count == len(frames) - 1
        await send({"type": "http.response.body", "body": frame, "more_body": True})
        await asyncio.sleep(reply.pause_s)
    await send({"type": "http.response.body", "body": b""})


def _frames(asked: Asked, reply: Says) -> list[bytes]:
    if reply.raw is not None:
        return [reply.raw]
    reported = Reported(
        asked.model, _pieces(reply.text), _pieces(reply.thinking),
        [(call, _pieces(call.raw)) for call in reply.calls], reply.stop, reply.usage,
    )  # fmt: skip
    anthropic = asked.protocol == "anthropic"
    frames = list(anthropic_frames(reported) if anthropic else openai_frames(reported))
    if reply.error_after is not None:
        at, kind = reply.error_after
        error = error_event if anthropic else _openai_event
        return [*frames[:at], error(kind, "it failed in the middle")]
    return frames[: reply.ends_after]


def _openai_event(kind: str, message: str) -> bytes:
    return b"data: " + openai_error(kind, message) + b"\n\n"


def _pieces(text: str | Sequence[str]) -> Sequence[str]:
    if isinstance(text, str):
        return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return text


def script_of(replies: Sequence[Reply | Script]) -> Script:
    """The replies one after the other, the last again and again; a single function is the script itself."""
    if len(replies) == 1 and callable(replies[0]):
        return replies[0]
    left = list(replies)

    def next_one(asked: Asked) -> Reply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply(asked) if callable(reply) else reply

    return next_one


class _Services:
    """One server for all fakes of a process, each below a path of its own: starting one takes longer than
    most tests."""

    def __init__(self) -> None:
        self._fakes: dict[str, FakeModels] = {}
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(self, lifespan="off", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, args=([listening],), daemon=True).start()

    def open(self, fake: FakeModels) -> None:
        place = f"/{len(self._fakes)}"
        self._fakes[place] = fake
        fake.address = self.address + place

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        place, slash, rest = scope["path"][1:].partition("/")
        await self._fakes[f"/{place}"]({**scope, "path": slash + rest}, receive, send)


_services = cache(_Services)


@contextmanager
def fake_models(*replies: Reply | Script) -> Iterator[FakeModels]:
    """A provider with this script."""
    fake = FakeModels(script_of(replies or ("好的。",)))
    _services().open(fake)
    yield fake
