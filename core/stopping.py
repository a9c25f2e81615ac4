"""Safe points: the places where a piece of work can be stopped.

A run that a worker started is not ended by a signal, which could hit a transaction. It checks at its safe
points (before an upstream call, an item of a per-code fetch, the transaction of a partition) and never within
a transaction: what was committed stays whole, the rest is not begun. The request is carried by a context
variable, like the call budget; a thread pool gets it with `contextvars.copy_context().run`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Requested = Callable[[], str | None]
"""Why the work is to stop; None while it is to go on. Asked often: it must be cheap."""

_requested: ContextVar[Requested | None] = ContextVar("stop_wanted", default=None)


class StopAsked(Exception):
    """The work ended at a safe point on request. Not a PlatformError, so that it triggers no fallback, no
    partial answer and no retry."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def stoppable(requested: Requested) -> Iterator[None]:
    """Safe points within the block check `requested`."""
    token = _requested.set(requested)
    try:
        yield
    finally:
        _requested.reset(token)


def can_be_stopped() -> bool:
    """Whether this piece of work has safe points that end it; else signals end its process."""
    return _requested.get() is not None


def stop_reason() -> str | None:
    """Why this piece of work is to stop; None while it is to go on."""
    requested = _requested.get()
    return None if requested is None else requested()


def safe_point() -> None:
    """Raises StopAsked when this piece of work is to stop."""
    reason = stop_reason()
    if reason is not None:
        raise StopAsked(reason)
