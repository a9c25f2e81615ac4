"""A bounded pool of connections to the terminal servers.

Which server is asked is the session's decision, by kind of call; the pool keeps the connections open that
come back, whichever server they lead to.
"""

import threading
import time
from collections.abc import Callable, Sequence

from core.errors import DeclarationError, PayloadError, Transient, Unavailable
from resources.upstreams.tdx.connection import Connection, Endpoint
from resources.upstreams.tdx.primitives import SOURCE

#: Heartbeats without a call in between after which an idle connection is given up.
MAX_IDLE_BEATS = 20


class Pool:
    """At most `size` connections, one borrower each."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        size: int,
        timeout: float,
        connect_timeout: float,
        heartbeat_every: float,
        second_hello: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not endpoints:
            raise DeclarationError("the terminal protocol needs at least one host")
        if size < 1:
            raise DeclarationError(f"pool size {size}: at least 1")
        self._endpoints = {host_of(endpoint): endpoint for endpoint in endpoints}
        self._size = size
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._heartbeat_every = heartbeat_every
        self._second_hello = second_hello
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._idle: list[Connection] = []
        self._borrowed = 0
        self._keeper: threading.Thread | None = None
        self._closed = threading.Event()

    @property
    def hosts(self) -> list[str]:
        """`ip:port` of every server, in the given order."""
        return list(self._endpoints)

    @property
    def open_connections(self) -> int:
        with self._changed:
            return len(self._idle) + self._borrowed

    def borrow(self, host: str) -> Connection:
        """An open connection to `host`; waits for one to come back when all are out. `Unavailable` (no host
        is to blame) when none does, or when the pool is closed."""
        with self._changed:
            free = self._changed.wait_for(
                lambda: self._closed.is_set() or self._borrowed < self._size, timeout=self._timeout
            )
            if self._closed.is_set():
                raise Unavailable("the connection pool is closed", source=SOURCE)
            if not free:
                raise Unavailable(f"all {self._size} connections are busy", source=SOURCE)
            self._borrowed += 1
        try:
            return self._idle_connection(host) or self.connect(host)
        except BaseException:
            self._release()
            raise

    def _idle_connection(self, host: str) -> Connection | None:
        """One idle connection to `host` that its peer left open. Where there is none, the longest idle one to
        another server makes room for a new connection. Taken one at a time, so that parallel borrowers share
        what is idle and open no further ones."""
        while True:
            with self._changed:
                at = next((at for at, one in enumerate(self._idle) if one.host == host), None)
                full = len(self._idle) + self._borrowed > self._size
                if at is None and not full:
                    return None
                connection = self._idle.pop(0 if at is None else at)
            if connection.host == host and connection.is_open():
                return connection
            connection.close()

    def give_back(self, connection: Connection) -> None:
        """The exchange went well."""
        connection.idle_beats = 0
        with self._changed:
            # The borrower itself still counts, so a full pool has room for exactly this one.
            room = len(self._idle) + self._borrowed <= self._size
            kept = room and not self._closed.is_set()
            if kept:
                self._idle.append(connection)
                self._start_keeper()
        if not kept:
            connection.close()
        self._release()

    def drop(self, connection: Connection) -> None:
        """The exchange failed: nothing that this connection still delivers can be trusted."""
        connection.close()
        self._release()

    def connect(self, host: str) -> Connection:
        """A new connection that the pool does not count."""
        return Connection(
            self._endpoints[host],
            timeout=self._timeout,
            connect_timeout=self._connect_timeout,
            second_hello=self._second_hello,
            monotonic=self._monotonic,
        )

    def close(self) -> None:
        """Close what is idle; what is borrowed is closed when it comes back."""
        self._closed.set()
        with self._changed:
            waiting, self._idle = self._idle, []
            keeper, self._keeper = self._keeper, None
            self._changed.notify_all()
        for connection in waiting:
            connection.close()
        if keeper is not None and keeper is not threading.current_thread():
            keeper.join(timeout=self._timeout)

    def beat(self) -> int:
        """Send a heartbeat on every connection that has been idle long enough; returns how many are left."""
        with self._changed:
            waiting, self._idle = self._idle, []
        left = []
        for connection in waiting:
            fresh = self._monotonic() - connection.last_used < self._heartbeat_every
            if fresh or self._beats(connection):
                left.append(connection)
            else:
                connection.close()
        with self._changed:
            if not self._closed.is_set():
                self._idle.extend(left)
                return len(self._idle) + self._borrowed
        for connection in left:
            connection.close()
        return 0

    def _beats(self, connection: Connection) -> bool:
        if connection.idle_beats >= MAX_IDLE_BEATS or not connection.is_open():
            return False
        try:
            connection.heartbeat()
        except (Transient, PayloadError):
            return False
        return True

    def _release(self) -> None:
        with self._changed:
            self._borrowed -= 1
            self._changed.notify()

    def _start_keeper(self) -> None:
        """Called with the lock held. The thread ends by itself when no connection is left."""
        if self._keeper is None and self._heartbeat_every > 0:
            self._keeper = threading.Thread(target=self._keep, name="tdx-heartbeat", daemon=True)
            self._keeper.start()

    def _keep(self) -> None:
        while not self._closed.wait(self._heartbeat_every / 2):
            if self.beat() == 0:
                with self._changed:
                    if not self._idle and not self._borrowed:
                        self._keeper = None
                        return


def host_of(endpoint: Endpoint) -> str:
    return f"{endpoint[0]}:{endpoint[1]}"
