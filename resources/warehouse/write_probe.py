"""Probes whether the warehouse can be written: one small row, on a connection of its own that waits a second
at most."""

import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

from sqlalchemy.engine import Engine

from core.errors import StorageError
from resources.warehouse.engine import is_sqlite, make_engine
from resources.warehouse.ledger.heartbeats import Heartbeats, this_node

ROLE = "probe"
"""Role of its row in `sys_heartbeat`, so that it is not taken for a process."""
WAIT_S = 1.0


class WriteProbe:
    """Writes as `who` (a row of its own per machine)."""

    def __init__(self, url: str, who: str, *, wait_s: float = WAIT_S) -> None:
        self._url = url
        self._wait_s = wait_s
        self._node = f"{ROLE}:{who}:{socket.gethostname()}"[:64]
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def write(self) -> float:
        """Seconds that a write took. Raises StorageError: DiskFull, or what prevented it; also when the write
        before it has not come back yet."""
        if not self._lock.acquire(blocking=False):
            raise StorageError("a write has been waiting since the last look")
        try:
            started = time.monotonic()
            self._write()
            return time.monotonic() - started
        finally:
            self._lock.release()

    def _write(self) -> None:
        if self._engine is None:
            self._engine = make_engine(self._url, wait_s=self._wait_s, pool_size=1, max_overflow=0)
        path = self._engine.url.database or ""
        if is_sqlite(self._engine) and not Path(path).is_file():
            raise StorageError(f"there is no database {path}")  # a look makes none
        Heartbeats(self._engine).beat(replace(this_node(ROLE), node_id=self._node))

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()
