"""Signs of life of the worker's lanes: a heartbeat that goes on while the lanes hang says nothing.

A lane gives a sign whenever it looks: into the queue, at the run it waits for, between two runs.
Everything else that a lane does is bounded (the longest is the launch of a run, `LAUNCH_S` = 120 s).
"""

import threading
import time
from collections.abc import Callable

LIMIT_S = 150.0
"""A lane that has given no sign for so long hangs."""

_mine = threading.local()


def alive() -> None:
    """This thread is alive. Nothing happens in a thread that nobody watches."""
    beat: Callable[[], None] | None = getattr(_mine, "beat", None)
    if beat is not None:
        beat()


class Pulses:
    """When each watched thread gave its last sign."""

    def __init__(self, limit_s: float = LIMIT_S, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._monotonic = monotonic
        self._last: dict[str, float] = {}

    def watch(self, name: str) -> None:
        """Watch a thread that is about to start; it counts as alive from now on."""
        self._last[name] = self._monotonic()

    def join(self, name: str) -> None:
        """Called by the thread itself: its `alive()` counts for `name`."""

        def beat() -> None:
            self._last[name] = self._monotonic()

        _mine.beat = beat
        beat()

    def leave(self, name: str) -> None:
        """The thread came to its end as it should."""
        self._last.pop(name, None)

    def silent(self) -> dict[str, float]:
        """Threads that gave no sign within the limit, and for how many seconds."""
        now = self._monotonic()
        since = {name: now - last for name, last in list(self._last.items())}
        return {name: seconds for name, seconds in since.items() if seconds > self._limit_s}
