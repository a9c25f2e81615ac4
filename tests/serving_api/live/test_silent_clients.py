"""A client that takes nothing any more is noticed by the server itself, over real sockets."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.responses import StreamingResponse

from serving_api import __main__ as main
from serving_api.__main__ import Server, listen

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="an option of Linux")


class Endless:
    """A stream without end; `ended` when the server has given it up."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await StreamingResponse(self._body())(scope, receive, send)
        finally:
            self.ended.set()

    @staticmethod
    async def _body() -> AsyncIterator[bytes]:
        while True:
            await asyncio.sleep(0.001)
            yield b"x" * 65_536


@contextmanager
def served(app: Any, sock: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, loop="uvloop", http="httptools", lifespan="off", log_config=None)
    server = Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(30)


def test_a_connection_takes_over_the_stated_time() -> None:
    assert main.SILENT_S == 60.0
    with listen("127.0.0.1", 0) as sock:
        sock.listen()
        with socket.create_connection(sock.getsockname()), sock.accept()[0] as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


def test_a_reader_that_takes_nothing_loses_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "SILENT_S", 0.5)
    app = Endless()
    sock = listen("127.0.0.1", 0)
    sock.listen()
    with served(app, sock), socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(sock.getsockname())
        client.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert app.ended.wait(30), "it waits for a client that never reads"
