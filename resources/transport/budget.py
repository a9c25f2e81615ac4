"""How many external calls one piece of work may make (RETRY_BUDGET_MAX per user request), and how long
a failed one may be tried again: for a waiting user the next source is faster than a third attempt at a silent
one.

The budget travels in a context variable, so that every client that passes a gate is counted without
knowing about it. A thread pool does not inherit context: submit `contextvars.copy_context().run`.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.errors import Unavailable


class Budget:
    """Counts calls down; shared by all threads that work for one request. `retry_within_s`: no retry begins
    later than that after `restart` (None = no such limit)."""

    def __init__(
        self,
        limit: int,
        *,
        retry_within_s: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = limit
        self._retry_within_s = retry_within_s
        self._monotonic = monotonic
        self._since = monotonic()
        self._used = 0
        self._lock = threading.Lock()

    def restart(self) -> None:
        """Restart the time for retries, because the next source is asked now."""
        self._since = self._monotonic()

    @property
    def allows_retry(self) -> bool:
        within = self._retry_within_s
        return within is None or self._monotonic() - self._since <= within

    @property
    def used(self) -> int:
        return self._used

    @property
    def remaining(self) -> int:
        return self.limit - self._used

    def take(self) -> None:
        """Spend one call. Raises `Unavailable` when none is left."""
        with self._lock:
            if self._used >= self.limit:
                raise Unavailable(f"call budget of {self.limit} external calls is used up")
            self._used += 1

    def give_back(self) -> None:
        """Return a call that was not sent after all."""
        with self._lock:
            self._used = max(0, self._used - 1)


_current: ContextVar[Budget | None] = ContextVar("call_budget", default=None)


def current_budget() -> Budget | None:
    return _current.get()


def may_retry() -> bool:
    """Whether the current piece of work has time for another try."""
    budget = _current.get()
    return budget is None or budget.allows_retry


@contextmanager
def call_budget(limit: int, *, retry_within_s: float | None = None) -> Iterator[Budget]:
    """Everything inside the block shares `limit` external calls and the time for retries."""
    budget = Budget(limit, retry_within_s=retry_within_s)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)
