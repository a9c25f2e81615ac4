"""The record of one upstream response, from which every stored value can be traced.

A client reports each response (also empty and refused ones) to its `FetchLog`; the writer stores the
log as `sys_fetch` rows in the transaction of the batch that the responses fed, and the bodies under
`DATA_DIR/payloads/<date>/`.
"""

import hashlib
import threading
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.errors import PlatformError
from resources import tracing
from resources.rejections import Rejection


class Outcome(StrEnum):
    """How a response ended. EMPTY is a typed result: the upstream truly has no rows."""

    OK = "ok"
    EMPTY = "empty"
    TRANSIENT = "transient"
    REFUSED = "refused"
    PERMANENT = "permanent"
    PAYLOAD = "payload"


@dataclass(frozen=True)
class Fetch:
    """One upstream response. `request` is redacted and canonical, `body` the bytes as received."""

    upstream: str
    call_name: str
    request: str
    outcome: Outcome
    body: bytes
    received_at: datetime
    codes_or_page: str = ""
    http_status: int | None = None
    attempt: int = 1
    elapsed_ms: int = 0
    rejected: tuple[Rejection, ...] = ()
    """Rows that the parser left out because they failed validation."""
    fetch_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def request_key(self) -> str:
        """Hash of the canonical request: a replay finds its answer by it, in any order."""
        return hashlib.sha256(f"{self.upstream}\n{self.request}".encode()).hexdigest()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()


def traced(fetch: Fetch, host: str, error: PlatformError | None = None) -> None:
    """The span of a call that has just ended: never its address, query or body."""
    tracing.call_finished(
        f"{fetch.upstream} {fetch.call_name}",
        fetch.elapsed_ms / 1000,
        {
            "server.address": host,
            "http.response.status_code": fetch.http_status,
            "ashare.upstream": fetch.upstream,
            "ashare.call": fetch.call_name,
            "ashare.outcome": str(fetch.outcome),
            "ashare.attempt": fetch.attempt,
            "ashare.bytes": len(fetch.body),
            "ashare.fetch_id": fetch.fetch_id,
            "error.type": None if error is None else type(error).__name__,
        },
        failure=None if error is None else error.message,
    )


class FetchLog:
    """Collects the responses of one piece of work; safe to share between the threads of a pool."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: list[Fetch] = []

    def add(self, fetch: Fetch) -> None:
        with self._lock:
            self._items.append(fetch)

    def clear(self) -> None:
        """Forget what was collected: of work whose responses are kept otherwise."""
        with self._lock:
            self._items.clear()

    @property
    def items(self) -> list[Fetch]:
        with self._lock:
            return list(self._items)

    def calls(self) -> dict[str, int]:
        """Responses per upstream."""
        return dict(Counter(item.upstream for item in self.items))
