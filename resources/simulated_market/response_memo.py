"""A memo of rendered answers, for the pages of one request."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from resources.simulated_market.wire import View

Answer = TypeVar("Answer")


class ResponseMemo(Generic[Answer]):
    """The newest answers of one world and moment, `most` of them, by request. Under a fault nothing is
    cached: the next answer may be a true one. Safe for the threads of a server."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._moment: Hashable = None
        self._held: OrderedDict[Hashable, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, view: View, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """The answer, made where it is not cached; it must not be changed."""
        if view.fault is not None:
            return make()
        moment = (id(view.world), view.now)
        with self._lock:
            if moment != self._moment:
                self._moment = moment
                self._held.clear()
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        with self._lock:
            if moment == self._moment:
                self._held[key] = made
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        return made
