"""A small load client: connections that each send their next request when the answer is whole."""

import asyncio
import http.client
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import cast

CONNECTIONS = 16
PACED_CONNECTIONS = 100


def request(path: str, headers: dict[str, str] | None = None) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "host: 127.0.0.1", *(f"{k}: {v}" for k, v in (headers or {}).items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def posted(path: str, body: bytes) -> bytes:
    """A POST of JSON."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


@dataclass(frozen=True)
class Whole:
    """One answer; header names in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return dict(self.headers).get(name, "")


def fetch(port: int, path: str, headers: dict[str, str] | None = None) -> Whole:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        pairs = [(name.lower(), value) for name, value in answer.getheaders()]
        return Whole(answer.status, pairs, answer.read())
    finally:
        connection.close()


@dataclass
class Outcome:
    """What one burst saw. Statuses other than the first one are counted as errors."""

    answers: int = 0
    errors: int = 0
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.answers / self.seconds


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], outcome: Outcome, end: float) -> None:
        self._requests = requests
        self._outcome = outcome
        self._end = end
        self._buffer = b""
        self._asked = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's own transport class, which does not derive from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        self._asked = time.perf_counter()
        asked = next(self._requests, None)
        if asked is None:
            self._transport.close()
        else:
            self._transport.write(asked)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        status = self._buffer[9:12]
        length = 0
        if status != b"304":
            at = self._buffer.find(b"content-length: ", 0, head)
            length = int(self._buffer[at + 16 : self._buffer.index(b"\r\n", at)])
        if len(self._buffer) < head + 4 + length:
            return
        self._buffer = b""
        now = time.perf_counter()
        self._outcome.answers += 1
        self._outcome.errors += status not in {b"200", b"304"}
        self._outcome.waits.append(now - self._asked)
        if now < self._end:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


class _Paced(_Connection):
    """Sends at fixed times; a wait counts from the time at which the request was due. There are so many
    connections that one which waits for a slow answer holds up few of the next requests."""

    def __init__(
        self,
        requests: Iterator[bytes],
        outcome: Outcome,
        end: float,
        *,
        first: float,
        every: float,
    ) -> None:
        super().__init__(requests, outcome, end)
        self._due = first
        self._every = every

    def _ask(self) -> None:
        due, self._due = self._due, self._due + self._every
        asyncio.get_running_loop().call_later(max(0.0, due - time.perf_counter()), self._ask_due, due)

    def _ask_due(self, due: float) -> None:
        super()._ask()
        self._asked = due


async def _send_paced(port: int, requests: Sequence[bytes], rate: float, seconds: float) -> Outcome:
    loop = asyncio.get_running_loop()
    outcome = Outcome()
    began = time.perf_counter() + 0.2
    shared = cycle(requests)
    made = [
        await loop.create_connection(
            lambda place=place: _Paced(  # type: ignore[misc]
                shared,
                outcome,
                end=began + seconds,
                first=began + place / rate,
                every=PACED_CONNECTIONS / rate,
            ),
            "127.0.0.1",
            port,
        )
        for place in range(PACED_CONNECTIONS)
    ]
    await asyncio.wait_for(asyncio.gather(*(connection.done for _, connection in made)), seconds + 30)
    outcome.seconds = time.perf_counter() - began
    return outcome


def paced(port: int, requests: Sequence[bytes], rate: float, seconds: float) -> Outcome:
    """Send `rate` requests a second, whatever the answers take."""
    import uvloop

    return uvloop.run(_send_paced(port, requests, rate, seconds))


async def _send(port: int, sources: Sequence[Iterator[bytes]], seconds: float) -> Outcome:
    """One connection per source."""
    loop = asyncio.get_running_loop()
    outcome = Outcome()
    began = time.perf_counter()
    made = [
        await loop.create_connection(
            lambda source=source: _Connection(source, outcome, began + seconds),  # type: ignore[misc]
            "127.0.0.1",
            port,
        )
        for source in sources
    ]
    await asyncio.wait_for(asyncio.gather(*(connection.done for _, connection in made)), seconds + 30)
    outcome.seconds = time.perf_counter() - began
    return outcome


def burst(port: int, requests: Sequence[bytes], seconds: float, *, connections: int = CONNECTIONS) -> Outcome:
    """Send for `seconds`, each connection from its own place in the list on; ends when every open request
    is answered."""
    import uvloop

    places = (at % len(requests) for at in range(connections))
    return uvloop.run(
        _send(port, [cycle([*requests[at:], *requests[:at]]) for at in places], seconds),
    )


def once(
    port: int, requests: Sequence[bytes], *, connections: int = CONNECTIONS, limit_s: float = 120.0
) -> Outcome:
    """Send every request exactly once, the connections sharing the list."""
    import uvloop

    shared = iter(requests)
    return uvloop.run(_send(port, [shared] * connections, limit_s))
