"""How long one piece of work may wait for upstreams that cool down: a load of many dates loses less by
waiting than by giving up the dates that fall into the pause. A user's request never waits.

The limit is carried by a context variable, like the call budget, and is shared by the threads of the work.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.clock import Sleeper, real_sleep
from core.errors import Unavailable


class Patience:
    """Seconds that may be spent waiting in total. Threads that wait at the same time count once."""

    def __init__(
        self,
        seconds: float,
        *,
        sleeper: Sleeper = real_sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._left = seconds
        self._sleep = sleeper
        self._monotonic = monotonic
        self._until = 0.0
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        return self._left

    def wait(self, seconds: float) -> bool:
        """Wait `seconds`; False without waiting when that is more than is left."""
        with self._lock:
            now = self._monotonic()
            until = now + seconds
            more = max(0.0, until - max(now, self._until))
            if more > self._left:
                return False
            self._left -= more
            self._until = max(self._until, until)
        while (rest := until - self._monotonic()) > 0:
            self._sleep(rest)
        return True


_current: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patient(patience: Patience) -> Iterator[None]:
    """Calls within wait for a cooldown instead of failing, as long as the patience lasts."""
    token = _current.set(patience)
    try:
        yield
    finally:
        _current.reset(token)


def may_wait() -> bool:
    """Whether the current piece of work may still wait."""
    patience = _current.get()
    return patience is not None and patience.left > 0


def wait_out(refusals: list[Unavailable]) -> bool:
    """Wait until the first of the guards that refused lets a call pass. False when that time is unknown or
    longer than the work may wait."""
    patience = _current.get()
    known = [one.seconds_left for one in refusals if one.seconds_left is not None]
    return patience is not None and bool(known) and patience.wait(min(known))
