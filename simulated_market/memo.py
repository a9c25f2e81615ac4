"""A memo of facts and of rendered answers."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from simulated_market.wire import View

Fact = TypeVar("Fact")


class FactMemo(Generic[Fact]):
    """The newest `most` facts of a world, by their key. A world under a fault exists for one answer,
    so that its false facts are not cached. Safe for the threads of a server."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._held: dict[Hashable, Fact] = {}
        self._lock = threading.Lock()

    def of(self, view: View, key: Hashable, make: Callable[[], Fact]) -> Fact:
        """The fact, made where it is not cached; it must not be changed."""
        if view.fault is not None:
            return make()
        key = (id(view.world), key)
        with self._lock:
            if key in self._held:
                return self._held[key]
        made = make()
        with self._lock:
            while self._most is not None and len(self._held) >= self._most:
                del self._held[next(iter(self._held))]
            return self._held.setdefault(key, made)
