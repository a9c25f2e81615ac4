"""A host that answers as broken networks, caches and proxies do, where the simulated market does not."""

import gzip
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class BadHost(ThreadingHTTPServer):
    """`fault` says how every request is answered, `body` what the true answer would have been."""

    daemon_threads = True
    fault = ""
    body = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: BadHost
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        getattr(self, self.server.fault)()

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def redirect_loop(self) -> None:
        self._answer(302, b"", Location=self.path)

    def gzip_cut(self) -> None:
        packed = gzip.compress(self.server.body)
        self._answer(200, packed[: len(packed) * 2 // 3], **{"Content-Encoding": "gzip"})

    def other_encoding(self) -> None:
        self._answer(200, self.server.body.decode("latin-1").encode("utf-16"))

    def reset_in_body(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body[: len(self.server.body) // 2])
        self.wfile.flush()
        # A reset instead of an end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            self.close_connection = True  # the reset above


@contextmanager
def bad_host() -> Iterator[BadHost]:
    host = BadHost(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=host.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield host
    finally:
        host.shutdown()
        host.server_close()
        thread.join()


def closed_port() -> str:
    """An address without a server."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
