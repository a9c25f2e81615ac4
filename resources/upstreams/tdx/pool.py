"""A bounded pool of connections to the first server that proves alive.

All connections go to one host, the current one; two failures in a row move the pool to the next. A host
counts as alive after it has served one real bar: dead servers accept every call and answer `0000`.
"""

import threading
import time
from collections.abc import Callable, Sequence

from core.errors import DeclarationError, PayloadError, Transient, Unavailable
from resources.upstreams.tdx.bars import PERIODS, bars_call
from resources.upstreams.tdx.connection import Connection, Endpoint
from resources.upstreams.tdx.instruments import instrument
from resources.upstreams.tdx.primitives import SOURCE, read_count

# -- Public servers of the terminal protocol that were seen working in 2026-06; TDX_HOSTS overrides them.

PUBLIC_HOSTS: tuple[tuple[str, int], ...] = tuple(
    (host, 7709)
    for host in (
        "119.97.185.59",
        "124.70.133.119",
        "116.205.183.150",
        "123.60.73.44",
        "121.36.225.169",
        "124.71.187.122",
        "110.41.147.114",
    )
)


FAILURES_BEFORE_MOVE = 2
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
        probe_symbol: str | None,
        second_hello: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not endpoints:
            raise DeclarationError("the terminal protocol needs at least one host")
        if size < 1:
            raise DeclarationError(f"pool size {size}: at least 1")
        self._endpoints = list(endpoints)
        self._size = size
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._heartbeat_every = heartbeat_every
        self._second_hello = second_hello
        self._monotonic = monotonic
        self._probe = bars_call(instrument(probe_symbol), PERIODS["day"], 0, 1) if probe_symbol else None
        self._changed = threading.Condition()
        self._idle: list[Connection] = []
        self._borrowed = 0
        self._at = 0
        self._failures = 0
        self._proven: set[Endpoint] = set()
        self._keeper: threading.Thread | None = None
        self._closed = threading.Event()

    @property
    def host(self) -> str:
        """`ip:port` of the current host."""
        with self._changed:
            return _name(self._endpoints[self._at])

    @property
    def hosts(self) -> int:
        return len(self._endpoints)

    @property
    def open_connections(self) -> int:
        with self._changed:
            return len(self._idle) + self._borrowed

    def borrow(self) -> Connection:
        """An open connection to the current host; waits for one to come back when all are out.
        `Unavailable` (no host is to blame) when none does, or when the pool is closed."""
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
            return self._idle_connection() or self._connect(self._current())
        except BaseException:
            self._release()
            raise

    def _current(self) -> Endpoint:
        with self._changed:
            return self._endpoints[self._at]

    def _idle_connection(self) -> Connection | None:
        """One idle connection to the current host that its peer left open; others are closed on the way.
        Taken one at a time, so that parallel borrowers share what is idle and open no further ones."""
        while True:
            with self._changed:
                if not self._idle:
                    return None
                connection = self._idle.pop()
                endpoint = self._endpoints[self._at]
            if connection.endpoint == endpoint and connection.is_open():
                return connection
            connection.close()

    def give_back(self, connection: Connection) -> None:
        """The exchange went well: the host's failures are forgotten."""
        connection.idle_beats = 0
        with self._changed:
            current = self._endpoints[self._at] == connection.endpoint
            if current:
                self._failures = 0
            # The borrower itself still counts, so a full pool has room for exactly this one.
            room = len(self._idle) + self._borrowed <= self._size
            kept = current and room and not self._closed.is_set()
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

    def failed(self, host: str, *, at_once: bool = False) -> None:
        """Count a failure of `host`; after two in a row (or `at_once`) the next host becomes current."""
        with self._changed:
            if _name(self._endpoints[self._at]) != host:
                return
            self._failures += 1
            self._proven.discard(self._endpoints[self._at])
            if at_once or self._failures >= FAILURES_BEFORE_MOVE:
                self._at = (self._at + 1) % len(self._endpoints)
                self._failures = 0

    def prove(self, connection: Connection) -> None:
        """Fetch one real bar; `Transient` when the server has none: it is dead, whatever it answers."""
        if self._probe is None:
            return
        body = connection.exchange(self._probe)
        if len(body) < 2 or read_count(body) == 0:
            raise DeadServer(f"{connection.host}: answers without data", source=SOURCE)
        with self._changed:
            self._proven.add(connection.endpoint)

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

    def _connect(self, endpoint: Endpoint) -> Connection:
        connection = Connection(
            endpoint,
            timeout=self._timeout,
            connect_timeout=self._connect_timeout,
            second_hello=self._second_hello,
            monotonic=self._monotonic,
        )
        try:
            with self._changed:
                proven = endpoint in self._proven
            if not proven:
                self.prove(connection)
        except BaseException:
            connection.close()
            raise
        return connection

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


class DeadServer(Transient):
    """A server that greets and answers every data call with nothing."""


def _name(endpoint: Endpoint) -> str:
    return f"{endpoint[0]}:{endpoint[1]}"
