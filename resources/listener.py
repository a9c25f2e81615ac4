"""The edge of every HTTP listener: uvicorn with bounds on what one address, and one slow client, can hold.

uvicorn waits for ever for the rest of a request and takes connections until descriptors run out, so a
thousand half-sent requests shut everybody out. Here the head of a request has `head_s` seconds and 64 KiB,
its body `body_s` seconds, and an address (of IPv6 the network of a customer) a number of connections; what is
over that is answered with 408, 431 or 503 and closed. Streams that a client does not read end by themselves
(`listen`). Proxies of TRUSTED_PROXIES are not counted: they carry the connections of others.
"""

import errno
import resource
import socket
from asyncio import TimerHandle, Transport
from collections.abc import Collection
from typing import TypedDict, Unpack

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from core.network_addresses import Network, customer_of, is_within

HEAD_S = 20.0
BODY_S = 120.0
MAX_HEAD = 65_536
"""Bytes of a request line with its headers."""
DESCRIPTORS = 8192
"""Open files and sockets that the process asks for, where the machine allows them."""
RESERVED = 128
"""Descriptors kept for databases, files and children."""
SILENT_S = 60.0
"""Seconds after which a client that takes no data is dropped, also when it vanished without closing."""


def listen(host: str, port: int, setting: str, *, shared: bool = False) -> socket.socket:
    """A bound socket that drops connections whose client stops taking data (Linux). `setting`: what names the
    port. `shared`: other processes of this platform listen there too, and the kernel gives each new
    connection to one of them. Exits with a clear message when the address cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Accepted connections inherit it: otherwise a host that vanished, or a reader that reads nothing,
        # would hold its stream for a quarter of an hour.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SILENT_S * 1000))
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise SystemExit(f"port {port} on {host} is taken: stop what uses it or set {setting}") from None
        raise SystemExit(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return sock


def raise_descriptors() -> int:
    """Lift the soft limit of open descriptors towards DESCRIPTORS; the limit that is now in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft if soft != resource.RLIM_INFINITY else DESCRIPTORS


class ServerOptions(TypedDict, total=False):
    """Options of uvicorn that the listeners set."""

    log_level: str
    log_config: None
    timeout_graceful_shutdown: int


class ListenerConfig(uvicorn.Config):
    """uvicorn's configuration of a bounded listener."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_per_address: int,
        proxies: Collection[Network],
        head_s: float = HEAD_S,
        body_s: float = BODY_S,
        **options: Unpack[ServerOptions],
    ) -> None:
        """`max_per_address`: open connections of one address, 0 = any number; `proxies`: not counted."""
        self.max_per_address = max_per_address
        self.proxies = proxies
        self.head_s = head_s
        self.body_s = body_s
        self.max_connections = max(raise_descriptors() - RESERVED, RESERVED)
        super().__init__(
            app,
            loop="uvloop",
            http=BoundedProtocol,
            access_log=False,
            # X-Forwarded-For is judged by the rate limit (TRUSTED_PROXIES), not rewritten before it.
            proxy_headers=False,
            server_header=False,
            **options,
        )


class BoundedProtocol(HttpToolsProtocol):
    """One connection, which a client cannot hold without sending a request or its rest."""

    config: ListenerConfig
    customer: str | None = None
    """Whose connection it is, None for those that are not counted."""
    _deadline: TimerHandle | None = None
    _in_head = False
    _head_bytes = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.client is not None and not is_within(self.client[0], self.config.proxies):
            self.customer = customer_of(self.client[0])
        if self._is_one_too_many():
            self._refuse(b"503 Service Unavailable", b"too many connections")
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MAX_HEAD:
            self._refuse(b"431 Request Header Fields Too Large", b"the headers are too large")

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._set_deadline(self.config.body_s)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._clear_deadline()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._clear_deadline()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        super().connection_lost(exc)

    def _is_one_too_many(self) -> bool:
        """Whether this connection is over the limit of the process, or of its address. uvicorn's set of open
        connections is the count."""
        if len(self.connections) > self.config.max_connections:
            return True
        limit = self.config.max_per_address
        if self.customer is None or not limit:
            return False
        customers = [getattr(item, "customer", None) for item in self.connections]
        return customers.count(self.customer) > limit

    def _expect_head(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self._set_deadline(self.config.head_s)

    def _set_deadline(self, seconds: float) -> None:
        self._clear_deadline()
        self._deadline = self.loop.call_later(seconds, self._give_up)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.flow.read_paused:  # the application is behind, not the client
            self._set_deadline(self.config.body_s)
        else:
            self._refuse(b"408 Request Timeout", b"the request did not arrive in time")

    def _refuse(self, status: bytes, reason: bytes) -> None:
        """Answer what is not a request, where no response has begun, and close."""
        self._clear_deadline()
        if self._in_head or self.cycle is None or not self.cycle.response_started:
            body = b'{"detail":"%s"}' % reason
            self.transport.write(
                b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
                b"cache-control: no-store\r\nconnection: close\r\n\r\n%s" % (status, len(body), body)
            )
        self.transport.close()
