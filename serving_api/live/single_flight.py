"""Answers of upstreams, each with one load for callers that come at the same time.

`SingleFlight` is that alone: callers that ask for the same key share one task. `SingleFlightCache` also keeps
the answers, for a time to live each.
"""

import asyncio
import functools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

MAX_KEYS = 2048
STALE = "cache_stale"

Ttl = float | Callable[[], float]
"""Seconds; a function is called when the answer is there, since the session may have ended meanwhile."""
Value = TypeVar("Value")


def seconds_of(ttl: Ttl) -> float:
    return ttl() if callable(ttl) else ttl


class SingleFlight(Generic[Value]):
    """Running tasks by key. Used on one event loop."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[Value]] = {}

    def running(self, key: Hashable) -> "asyncio.Task[Value] | None":
        """The unfinished task of a key."""
        return self._running.get(key)

    def start(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> "asyncio.Task[Value]":
        """The running task of a key; a new one of `make` where there is none."""
        task = self._running.get(key)
        if task is None or task.done():
            task = asyncio.ensure_future(_awaited(make))
            self._running[key] = task
            task.add_done_callback(functools.partial(self._ended, key))
        return task

    async def run(self, key: Hashable, make: Callable[[], Awaitable[Value]]) -> Value:
        """The result of the task of a key. A failure is raised to every caller; a cancelled caller does not
        cancel the task for the others."""
        return await asyncio.shield(self.start(key, make))

    async def settled(self) -> None:
        """Wait for all running tasks (tests)."""
        await asyncio.gather(*self._running.values())

    def close(self) -> None:
        """Cancel all running tasks."""
        for task in self._running.values():
            task.cancel()
        self._running = {}

    def _ended(self, key: Hashable, task: "asyncio.Task[Value]") -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled():
            task.exception()  # retrieved: asyncio would log it where every caller was cancelled


async def _awaited(make: Callable[[], Awaitable[Value]]) -> Value:
    return await make()


@dataclass(frozen=True)
class CacheAnswer(Generic[Value]):
    """A value and its origin: 'cache', 'cache_stale' or 'live'."""

    value: Value
    origin: str


@dataclass(frozen=True)
class Entry(Generic[Value]):
    """A kept value, and the monotonic second at which its time to live ends."""

    value: Value
    until: float


class SingleFlightCache(Generic[Value]):
    """Answers by key, each for its time to live. Failures are not cached. Used on one event loop; `kept` and
    `keep` alone also in threads that do not share a key."""

    def __init__(self, monotonic: Callable[[], float], max_keys: int = MAX_KEYS) -> None:
        self._monotonic = monotonic
        self._max_keys = max_keys
        self._entries: OrderedDict[Hashable, Entry[Value]] = OrderedDict()
        self._running: SingleFlight[Value] = SingleFlight()

    async def take(
        self,
        key: Hashable,
        ttl: Ttl,
        make: Callable[[], Awaitable[Value]],
        *,
        use_cache: bool = True,
        stale_on: tuple[type[Exception], ...] = (),
    ) -> CacheAnswer[Value]:
        """The answer of `make`, or the cached one within its time to live. An error of `stale_on` is answered
        by the last good answer, however old, where there is one."""
        entry = self._entries.get(key)
        if use_cache and entry is not None and self.is_fresh(entry):
            self._entries.move_to_end(key)
            return CacheAnswer(entry.value, "cache")
        try:
            return CacheAnswer(await self._running.run(key, lambda: self._make(key, ttl, make)), "live")
        except stale_on:
            entry = self._entries.get(key)
            if entry is None:
                raise
            return CacheAnswer(entry.value, STALE)

    async def _make(self, key: Hashable, ttl: Ttl, make: Callable[[], Awaitable[Value]]) -> Value:
        value = await make()
        self.keep(key, value, seconds_of(ttl))
        return value

    def kept(self, key: Hashable) -> Entry[Value] | None:
        """What is kept of a key, however old."""
        return self._entries.get(key)

    def is_fresh(self, entry: Entry[Value], late: float = 0.0) -> bool:
        """Whether its time to live is not over, or not for longer than `late` seconds."""
        return self._monotonic() < entry.until + late

    def keep(self, key: Hashable, value: Value, seconds: float) -> Entry[Value]:
        """Keep a value for its time to live; the least recently used key goes where there are too many."""
        entry = self._entries[key] = Entry(value, self._monotonic() + seconds)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_keys:
            self._entries.popitem(last=False)
        return entry

    def clear(self) -> None:
        self._entries.clear()
