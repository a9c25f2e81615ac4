"""How many external calls one piece of work may make (RETRY_BUDGET_MAX per user request).

The budget travels in a context variable, so that every client that passes a gate is counted without
knowing about it. A thread pool does not inherit context: submit `contextvars.copy_context().run`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from resources.errors import Unavailable


class Budget:
    """Counts calls down; shared by all threads that work for one request."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._used = 0
        self._lock = threading.Lock()

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


@contextmanager
def call_budget(limit: int) -> Iterator[Budget]:
    """Everything inside the block shares `limit` external calls."""
    budget = Budget(limit)
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)
