"""Safe points: where a piece of work hears that nobody wants the rest of it.

A run that a worker started is ended by no signal, which could hit a transaction. It asks at its safe points
(before an upstream call, an item of a sweep, the transaction of a partition) and never within a
transaction: what was committed stays whole, the rest is not begun. The wish travels in a context variable,
like the call budget; a thread pool gets it with `contextvars.copy_context().run`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Requested = Callable[[], str | None]
"""Why the work is to stop; None while it is to go on. Asked often: it must be cheap."""

_requested: ContextVar[Requested | None] = ContextVar("stop_wanted", default=None)


class StopAsked(Exception):
    """The work ended at a safe point because somebody asked for it. Not a PlatformError: no fallback, no
    partial answer and no retry is wanted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def stoppable(requested: Requested) -> Iterator[None]:
    """Safe points within ask `wanted`."""
    token = _requested.set(requested)
    try:
        yield
    finally:
        _requested.reset(token)


def can_be_stopped() -> bool:
    """Whether somebody listens for this piece of work; else signals end its process."""
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
