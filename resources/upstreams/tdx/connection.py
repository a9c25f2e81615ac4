"""One TCP connection: greeting, exchange of one request at a time, heartbeat.

Every wait ends: connecting after `connect_timeout`, an answer after `timeout` in all (not per read, so a
server that sends a byte a second does not hold the caller). Socket errors become `Transient`.
"""

import socket
import time
from collections.abc import Callable

from core.errors import PayloadError, Transient
from resources.upstreams.tdx import frames
from resources.upstreams.tdx.primitives import SOURCE

Endpoint = tuple[str, int]

_READ_SIZE = 65_536
# How much noise is searched for the next magic, and how many answers to older requests are passed over.
_RESYNC_LIMIT = 65_536
_STALE_LIMIT = 8


class CutShort(Transient):
    """The peer closed inside an answer. Retried like any close; if every try ends so, the answer as such
    is broken and the caller raises `PayloadError`."""


class Connection:
    """A greeted connection to one server. Not for two threads at a time; the pool sees to that."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float,
        connect_timeout: float,
        second_hello: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint = endpoint
        self.idle_beats = 0
        self._timeout = timeout
        self._monotonic = monotonic
        self._seq = 0
        self._buffer = bytearray()
        began = monotonic()
        try:
            self._socket = socket.create_connection(endpoint, timeout=connect_timeout)
        except OSError as error:
            raise Transient(f"{self.host}: cannot connect: {error}", source=SOURCE) from error
        self.last_used = monotonic()
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # Answers of old servers differ in length, so greetings are read and not parsed.
            self.exchange(frames.HELLO_1)
            if second_hello:
                self.exchange(frames.HELLO_2)
            self.greeted_ms = (monotonic() - began) * 1000
        except BaseException:
            self.close()
            raise

    @property
    def host(self) -> str:
        return f"{self.endpoint[0]}:{self.endpoint[1]}"

    def exchange(self, call: frames.Call) -> bytes:
        """Send one request and return the inflated body of its answer."""
        self._seq = self._seq % 0x7FFF_FFFF + 1
        self._buffer.clear()
        deadline = self._monotonic() + self._timeout
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(frames.request_frame(self._seq, call.method, call.payload))
            for _ in range(_STALE_LIMIT):
                header, wire = self._frame(deadline)
                if header.seq == self._seq:
                    break
            else:
                raise PayloadError(f"{self.host}: {_STALE_LIMIT} answers to other requests", source=SOURCE)
        except TimeoutError as error:
            raise Transient(
                f"{self.host}: no answer to {call.name} in {self._timeout:g} s", source=SOURCE
            ) from error
        except OSError as error:
            raise Transient(f"{self.host}: {call.name}: {error}", source=SOURCE) from error
        if header.method != call.method:
            raise PayloadError(
                f"{self.host}: method {header.method:#06x} answers {call.method:#06x}", source=SOURCE
            )
        self.last_used = self._monotonic()
        return frames.inflate(header, wire)

    def heartbeat(self) -> None:
        self.exchange(frames.HEARTBEAT)
        self.idle_beats += 1

    def is_open(self) -> bool:
        """Whether the peer has left the connection open (an idle server closes; nothing may be waiting)."""
        try:
            self._socket.setblocking(False)
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        self._socket.close()

    def _frame(self, deadline: float) -> tuple[frames.Header, bytes]:
        """The next whole frame; bytes in front of a magic are skipped."""
        skipped = 0
        while True:
            self._fill(frames.RESPONSE.size, deadline)
            header = frames.response_header(bytes(self._buffer[: frames.RESPONSE.size]))
            if header is not None:
                break
            at = self._buffer.find(frames.MAGIC, 1)
            # Without a magic in sight keep three bytes: it may begin in them.
            drop = at if at > 0 else len(self._buffer) - len(frames.MAGIC) + 1
            skipped += drop
            if skipped > _RESYNC_LIMIT:
                raise PayloadError(f"{self.host}: no frame within {_RESYNC_LIMIT} bytes", source=SOURCE)
            del self._buffer[:drop]
        self._fill(frames.RESPONSE.size + header.zip_len, deadline)
        end = frames.RESPONSE.size + header.zip_len
        wire = bytes(self._buffer[frames.RESPONSE.size : end])
        del self._buffer[:end]
        return header, wire

    def _fill(self, size: int, deadline: float) -> None:
        """Read until `size` bytes are buffered."""
        while len(self._buffer) < size:
            left = deadline - self._monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            piece = self._socket.recv(_READ_SIZE)
            if not piece:
                if self._buffer:
                    raise CutShort(
                        f"{self.host}: closed after {len(self._buffer)} of {size} bytes", source=SOURCE
                    )
                raise Transient(f"{self.host}: closed by the server", source=SOURCE)
            self._buffer += piece
