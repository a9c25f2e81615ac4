"""What one slow client, and one address, can hold of a listener: over real sockets."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from core.network_addresses import parse_networks
from resources import listener
from resources.listener import MAX_HEAD, ListenerConfig, listen
from serving_api.__main__ import Server

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="an option of Linux")
HEAD_S, BODY_S = 0.6, 1.2
MAX = 8
GET = b"GET /told HTTP/1.1\r\nhost: a\r\n\r\n"


class Endless:
    """A stream without end; `ended` when the server has given it up."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await StreamingResponse(self._body())(scope, receive, send)
        finally:
            self.ended.set()

    @staticmethod
    async def _body() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0.001)
            yield b"x" * 65_536


async def _tell(_: Request) -> PlainTextResponse:
    return PlainTextResponse("told")


async def _count(request: Request) -> PlainTextResponse:
    """Reads slowly: the server has to wait for it, and the client with it."""
    size = 0
    async for part in request.stream():
        await asyncio.sleep(0.3)
        size += len(part)
    return PlainTextResponse(str(size))


async def _drip(_: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(4):
            await asyncio.sleep(0.6)
            yield b"x"

    return StreamingResponse(parts())


APP = Starlette(
    routes=[Route("/told", _tell), Route("/count", _count, methods=["POST"]), Route("/drip", _drip)]
)


@contextmanager
def served(app: ASGIApp, sock: socket.socket, proxies: str = "") -> Iterator[None]:
    config = ListenerConfig(
        app,
        max_per_address=MAX,
        proxies=parse_networks(proxies),
        head_s=HEAD_S,
        body_s=BODY_S,
        log_config=None,
    )
    server = Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    sock = listen("127.0.0.1", 0, "API_PORT")
    sock.listen()
    with served(APP, sock):
        yield sock.getsockname()


def connected(address: tuple[str, int]) -> socket.socket:
    client = socket.create_connection(address)
    client.settimeout(30)
    return client


def whole(client: socket.socket) -> bytes:
    """All that the server sends until it closes."""
    received = b""
    while part := client.recv(65_536):
        received += part
    return received


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"GET /told HTTP/1.1\r\nhost: a\r\n",
        b"POST /count HTTP/1.1\r\nhost: a\r\ncontent-length: 50\r\n\r\nxxx",
        b"POST /count HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nxx",
    ],
)
def test_a_half_sent_request_is_given_up(address: tuple[str, int], sent: bytes) -> None:
    with connected(address) as client:
        client.sendall(sent)
        assert whole(client).startswith(b"HTTP/1.1 408 ")


def test_a_byte_now_and_then_does_not_hold_a_connection(address: tuple[str, int]) -> None:
    """Before its first request, and after one that was answered."""
    for first in (b"", GET):
        with connected(address) as client:
            client.sendall(first)
            begun = time.monotonic()
            with suppress(OSError):
                while time.monotonic() - begun < 20:
                    client.sendall(b"\r\n" if first else b"G")
                    time.sleep(0.1)
            assert time.monotonic() - begun < 15, "it was never closed"


def test_headers_without_end_are_refused(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.sendall(b"GET /told HTTP/1.1\r\nhost: a\r\n")
        line = b"x-more: " + b"y" * 8_000 + b"\r\n"
        received = b""
        try:
            for _ in range(MAX_HEAD // len(line) + 2):
                client.sendall(line)
            received = whole(client)
        except ConnectionError:
            pass  # closed while the rest was on its way
        assert received.startswith(b"HTTP/1.1 431 ") or not received
    with connected(address) as client:
        client.sendall(b"GET /told HTTP/1.1\r\nconnection: close\r\nhost: a\r\n" + line * 4 + b"\r\n")
        assert whole(client).startswith(b"HTTP/1.1 200 ")


def test_a_slow_application_is_waited_for(address: tuple[str, int]) -> None:
    """A body that the application reads slowly, and a response that takes longer than a request may."""
    with connected(address) as client:
        body = b"z" * 700_000
        head = f"POST /count HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        assert whole(client).endswith(b"700000")
    with connected(address) as client:
        client.sendall(b"GET /drip HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        assert whole(client).endswith(b"0\r\n\r\n")


def test_an_address_holds_so_many_connections_and_frees_them(address: tuple[str, int]) -> None:
    with ExitStack() as stack:
        for _ in range(MAX):
            client = stack.enter_context(connected(address))
            client.sendall(GET)
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
        with connected(address) as one_more:
            assert whole(one_more).startswith(b"HTTP/1.1 503 ")
    deadline = time.monotonic() + 20
    while True:
        with connected(address) as client:
            client.sendall(GET)
            if client.recv(65_536).startswith(b"HTTP/1.1 200 "):
                break
        assert time.monotonic() < deadline, "closed connections still count"
        time.sleep(0.05)


def test_a_trusted_proxy_carries_the_connections_of_many() -> None:
    sock = listen("127.0.0.1", 0, "API_PORT")
    sock.listen()
    with served(APP, sock, "127.0.0.1"), ExitStack() as stack:
        for _ in range(2 * MAX):
            client = stack.enter_context(connected(sock.getsockname()))
            client.sendall(GET)
            assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_connection_takes_over_the_stated_time() -> None:
    assert listener.SILENT_S == 60.0
    with listen("127.0.0.1", 0, "API_PORT") as sock:
        sock.listen()
        with socket.create_connection(sock.getsockname()), sock.accept()[0] as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


def test_a_reader_that_takes_nothing_loses_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "SILENT_S", 0.5)
    app = Endless()
    sock = listen("127.0.0.1", 0, "API_PORT")
    sock.listen()
    with served(app, sock), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(sock.getsockname())
        client.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert app.ended.wait(30), "it waits for a client that never reads"
