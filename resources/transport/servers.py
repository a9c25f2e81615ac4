"""Which server of an upstream serves which kind of call, as this deployment has seen it.

Kept in the transport state, so that restarts and other processes know it: one document a server.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol, runtime_checkable

from resources.transport.state import MemoryStore, Store

_DOCUMENTS = "server"
REREAD_S = 10.0
"""Seconds after which what other processes wrote is read again."""
FAILURES_IN_A_ROW = 2
AWAY_S = 600.0
"""How long a server that did not answer stands behind those that did."""


@dataclass
class ServerRecord:
    """`kinds`: kind of call -> [whether the server serves it, when that was seen]; moments in seconds since
    the epoch. `connect_ms`: how long a connection with its greeting takes."""

    connect_ms: float | None = None
    away_at: float | None = None
    kinds: dict[str, tuple[bool, float]] = field(default_factory=dict)

    def serves(self, kind: str) -> bool | None:
        """None when nobody has seen it."""
        return self.kinds[kind][0] if kind in self.kinds else None


@runtime_checkable
class KeepsServers(Protocol):
    """A gate in whose state the records of servers are kept."""

    def servers(self) -> "ServerRecords": ...


class ServerRecords:
    """Reads and writes the records. Safe to share between threads."""

    def __init__(
        self, store: Store | None = None, *, now: Callable[[], float] = time.time, hold_s: float = 30.0
    ) -> None:
        """`hold_s`: how long a server that lacks a kind is not asked for it again."""
        self._store = store or MemoryStore()
        self._now = now
        self._hold_s = hold_s
        self._lock = threading.Lock()
        self._known: dict[str, ServerRecord] = {}
        self._read_at = float("-inf")
        self._failures: dict[str, int] = {}

    def all(self) -> dict[str, ServerRecord]:
        """Every record by host."""
        with self._lock:
            return dict(self._fresh())

    def ranked(self, kind: str, hosts: Sequence[str]) -> list[str]:
        """The hosts, best first: those that serve the kind by the time that a connection takes, then unknown
        ones in the given order, then those that do not answer, last those that lack the kind."""
        with self._lock:
            known, now = self._fresh(), self._now()
        records = {host: known.get(host, ServerRecord()) for host in hosts}

        def place(host: str) -> tuple[int, float]:
            record = records[host]
            serves = record.serves(kind)
            if serves is False:
                return 3, record.kinds[kind][1]
            if record.away_at is not None and now - record.away_at < AWAY_S:
                return 2, record.away_at
            return (0, record.connect_ms or 0.0) if serves else (1, 0.0)

        return sorted(hosts, key=place)

    def held_s(self, host: str, kind: str) -> float:
        """Seconds for which the host is not to be asked for the kind, because it has just shown that it lacks
        it."""
        with self._lock:
            serves, at = self._fresh().get(host, ServerRecord()).kinds.get(kind, (True, 0.0))
            left = at + self._hold_s - self._now()
        # A moment in the future means that the clock was set back.
        return left if not serves and 0 < left <= self._hold_s else 0.0

    def saw(self, host: str, kind: str, *, serves: bool, connect_ms: float | None = None) -> None:
        """The host has answered a call of this kind with rows, or has shown that it lacks them."""
        with self._lock:
            self._failures.pop(host, None)
            record = self._fresh().get(host, ServerRecord())
            # What is known already is not written again with each call.
            if not serves or record.serves(kind) is not True or record.away_at is not None:
                kinds = {**record.kinds, kind: (serves, self._now())}
                self._write(host, ServerRecord(connect_ms or record.connect_ms, None, kinds))

    def measured(self, host: str, connect_ms: float) -> None:
        """How long a new connection took."""
        with self._lock:
            record = self._fresh().get(host, ServerRecord())
            self._write(host, ServerRecord(round(connect_ms, 1), None, record.kinds))

    def failed(self, host: str) -> bool:
        """A call did not reach the host. After two in a row it stands behind the others: True."""
        with self._lock:
            self._failures[host] = self._failures.get(host, 0) + 1
            if self._failures[host] < FAILURES_IN_A_ROW:
                return False
            record = self._fresh().get(host, ServerRecord())
            self._write(host, ServerRecord(record.connect_ms, self._now(), record.kinds))
            return True

    def _fresh(self) -> dict[str, ServerRecord]:
        """With the lock held: the records, read again after a while."""
        if time.monotonic() - self._read_at > REREAD_S:
            with self._store.step() as step:
                stored = step.all(_DOCUMENTS)
            self._known = {host: _record(document) for host, document in stored.items()}
            self._read_at = time.monotonic()
        return self._known

    def _write(self, host: str, record: ServerRecord) -> None:
        with self._store.step() as step:
            step.put(_DOCUMENTS, host, asdict(record))
        self._known[host] = record


def _record(document: dict[str, object]) -> ServerRecord:
    found = ServerRecord(**document)  # type: ignore[arg-type]
    found.kinds = {kind: (bool(serves), float(at)) for kind, (serves, at) in found.kinds.items()}
    return found
