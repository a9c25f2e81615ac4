"""A server on loopback that answers with the bytes that a test gives it, in the pieces that it gives."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EVENTS, JSON, PAGE = "text/event-stream", "application/json", "text/html; charset=utf-8"


@dataclass(frozen=True)
class Bytes:
    """An answer: `pieces` go out one after the other."""

    pieces: Sequence[bytes]
    kind: str = EVENTS
    status: int = 200


Answers = Callable[[str, dict[str, Any]], Bytes]
"""(path, body of the request) -> answer."""


@dataclass
class RawServer:
    """`seen`: (path, body) of the requests."""

    answers: Answers
    url: str = ""
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body in self.seen]


@contextmanager
def raw_server(*answers: Bytes | Answers) -> Iterator[RawServer]:
    """The answers one after the other, the last again and again; a single function decides itself."""
    left = list(answers)

    def in_turn(path: str, body: dict[str, Any]) -> Bytes:
        answer = left.pop(0) if len(left) > 1 else left[0]
        return answer(path, body) if callable(answer) else answer

    server = RawServer(in_turn)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.seen.append((self.path, body))
            answer = server.answers(self.path, body)
            self.send_response(answer.status)
            self.send_header("content-type", answer.kind)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in (*answer.pieces, b""):
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()

        def log_message(self, *parts: object) -> None:
            """Nothing: the test says what it saw."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    server.url = f"http://127.0.0.1:{listening.server_port}"
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


def events(*documents: Any, end: str = "\n\n", done: bool = True) -> bytes:
    """Server-sent events of documents."""
    lines = [f"data: {json.dumps(one, ensure_ascii=False)}{end}" for one in documents]
    return "".join([*lines, f"data: [DONE]{end}" if done else ""]).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a stream of chat completions."""
    return {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }  # fmt: skip
