"""The TCP side: connections, framing, transport faults. One thread for each connection."""

import random
import socket
import struct
import threading
from contextlib import suppress

from core.clock import Clock
from simulated_market.conditions import Served
from simulated_market.faults import Fault, FaultPlan
from simulated_market.tdx.encoding import frame
from simulated_market.tdx.responder import Answer, BadRequest, Responder
from simulated_market.world.model import World

_HEADER = struct.Struct("<BIBHHH")
_PREFIX = 0x0C
_ACCEPTED_TYPES = frozenset({0, 1, 2})
_MAX_PAYLOAD = 4096
_MAX_CONNECTIONS = 64
# How often waiting threads look whether the server stops.
_POLL = 0.05
_HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


class TdxServer:
    """Serves a world on loopback as a terminal server does. `start()` binds, `stop()` ends every thread."""

    def __init__(
        self,
        world: World,
        clock: Clock,
        faults: FaultPlan,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        idle_timeout: float = 60.0,
        quote_head: bool = True,
        number: int = 1,
        served: Served = None,
    ) -> None:
        """`idle_timeout`: seconds without a request after which a connection is closed. `quote_head`:
        layout of today's minutes (see `Responder`). `number`: of this server in the rules of `faults`.
        `served`: its calls with an answer, None = all."""
        self._responder = Responder(world, clock, faults, quote_head=quote_head, server=number, served=served)
        self._requested = (host, port)
        self._idle_timeout = idle_timeout
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._acceptor: threading.Thread | None = None
        self._connections: dict[socket.socket, threading.Thread] = {}

    @property
    def address(self) -> tuple[str, int]:
        """(host, port) that the server listens on."""
        if self._listener is None:
            raise RuntimeError("the server is not running")
        host, port = self._listener.getsockname()[:2]
        return str(host), int(port)

    def calls(self) -> dict[str, int]:
        """Requests by call."""
        return self._responder.calls()

    def start(self) -> None:
        self._stopping.clear()
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(self._requested)
            listener.listen(_MAX_CONNECTIONS)
        except OSError:
            listener.close()
            raise
        listener.settimeout(_POLL)
        self._listener = listener
        # A restart comes back under the address that clients know.
        self._requested = self.address
        self._acceptor = threading.Thread(
            target=self._accept, args=(listener,), name="tdx-accept", daemon=True
        )
        self._acceptor.start()

    def stop(self) -> None:
        """Close everything; safe to call twice."""
        self._stopping.set()
        if self._listener is not None:
            # Wakes accept() where the system allows it; elsewhere the poll does.
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
        if self._acceptor is not None:
            self._acceptor.join()
            self._acceptor = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        with self._lock:
            open_now = dict(self._connections)
        for sock in open_now:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in open_now.values():
            thread.join()

    def __enter__(self) -> "TdxServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _accept(self, listener: socket.socket) -> None:
        while not self._stopping.is_set():
            try:
                sock, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(sock,), name="tdx-connection", daemon=True)
            with self._lock:
                full = len(self._connections) >= _MAX_CONNECTIONS
                if not full:
                    self._connections[sock] = thread
            if full:
                # An overloaded server closes; the client's next read returns nothing.
                sock.close()
            else:
                thread.start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(self._idle_timeout)
            while not self._stopping.is_set() and self._exchange(sock):
                continue
        except OSError:
            # Idle too long, reset by the client, or shut down by stop(): the connection ends all the same.
            return
        finally:
            with self._lock:
                self._connections.pop(sock, None)
            sock.close()

    def _exchange(self, sock: socket.socket) -> bool:
        """One request and its answer; False when the connection shall end."""
        header = _read(sock, _HEADER.size)
        if header is None:
            return False
        prefix, seq, kind, size, size_again, method = _HEADER.unpack(header)
        good = prefix == _PREFIX and kind in _ACCEPTED_TYPES and size == size_again
        if not good or not 2 <= size <= _MAX_PAYLOAD:
            return False
        payload = _read(sock, size - 2)
        if payload is None:
            return False
        try:
            answer = self._responder.answer(method, payload)
        except BadRequest:
            return False
        if answer.fault is None:
            sock.sendall(frame(seq, method, answer.body))
            return True
        return self._act(sock, seq, method, answer, answer.fault)

    def _act(self, sock: socket.socket, seq: int, method: int, answer: Answer, fault: Fault) -> bool:
        """Send `answer` as `fault` spoils it; False when the connection shall end."""
        match fault.kind:
            case "timeout":
                self._stay_silent(sock)
            case "reset":
                # With a linger time of zero, close() sends a reset.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case "truncate":
                return self._truncate(sock, seq, method, answer.body, fault)
            case "empty":
                sock.sendall(frame(seq, method, b""))
                return True
            case "garbage":
                noise = random.Random(f"{answer.name}{len(answer.body)}").randbytes(max(8, len(answer.body)))
                sock.sendall(frame(seq, method, noise))
                return True
            case "slow":
                pace = float(fault.args.get("bytes_per_second", 64))
                return self._trickle(sock, frame(seq, method, answer.body), pace)
            case "html":
                sock.sendall(_HTML)
        # `status` and whatever else belongs to HTTP: an overloaded server closes.
        return False

    def _truncate(self, sock: socket.socket, seq: int, method: int, body: bytes, fault: Fault) -> bool:
        """Part of the frame's body, then the end; or (`framed`) a frame whose header agrees with the cut."""
        keep = fault.args.get("keep", 0.5)
        if fault.args.get("framed", False):
            sock.sendall(frame(seq, method, body[: _kept(keep, len(body))]))
            return True
        whole = frame(seq, method, body)
        sock.sendall(whole[: 16 + _kept(keep, len(whole) - 16)])
        return False

    def _stay_silent(self, sock: socket.socket) -> None:
        sock.settimeout(_POLL)
        while not self._stopping.is_set():
            try:
                if not sock.recv(1024):
                    return
            except TimeoutError:
                continue

    def _trickle(self, sock: socket.socket, whole: bytes, per_second: float) -> bool:
        for at in range(len(whole)):
            if self._stopping.wait(1 / per_second):
                return False
            sock.sendall(whole[at : at + 1])
        return True


def _kept(keep: float, size: int) -> int:
    """`keep` as a fraction of `size` (a float up to 1) or as bytes."""
    if isinstance(keep, float) and keep <= 1:
        return int(size * keep)
    return min(int(keep), size)


def _read(sock: socket.socket, size: int) -> bytes | None:
    """Exactly `size` bytes, or None when the peer closes first."""
    data = bytearray()
    while len(data) < size:
        piece = sock.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)
