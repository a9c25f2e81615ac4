"""The caches of the API, each with one load for callers that come at the same time.

`SingleFlight` is that alone: callers that ask for the same key share one task. `SingleFlightCache` also keeps
the answers, for a time to live each; upstream reads use it. `VersionedCache` holds values of one version of
their tables: bounded by bytes, least recently used out first.
"""

import asyncio
import functools
import threading
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

MAX_KEYS = 2048
STALE = "cache_stale"

Ttl = float | Callable[[], float]
"""Seconds; a function is called when the answer is there, since the session may have ended meanwhile."""
Key = TypeVar("Key", bound=Hashable)
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


DEFAULT_BYTES = 128 * 1024 * 1024


@dataclass
class Versioned:
    """A value, the version of the tables that it was made from, and its bytes, about."""

    version: str
    value: Any
    size: int


class VersionedCache:
    """Values by (prefix, key). A value of another version is a miss and is replaced.

    It has its own turns instead of `SingleFlight`: a load may be of several keys, of which other callers have
    some; a caller that waited looks again and loads what is still missing, so that a failure is not shared
    and a cancelled caller leaves no load running. Values do not expire with time.
    """

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._evictions = 0
        self._entries: OrderedDict[tuple[str, Hashable], Versioned] = OrderedDict()
        self._hits: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        """Locks of the loads that run; one that nobody holds or awaits is gone."""

    async def one(
        self,
        prefix: str,
        key: Hashable,
        version: str | None,
        load: Callable[[], Awaitable[Value | None]],
        size: Callable[[Value], int],
    ) -> Value | None:
        """The value of a key; of several callers at once, one loads it. None is not cached; without a version
        every caller loads."""
        if version is None:
            return await load()

        async def loaded(_missing: Sequence[Hashable]) -> dict[Hashable, Value]:
            value = await load()
            return {} if value is None else {key: value}

        return (await self.some(prefix, (key,), version, loaded, size, turn=key)).get(key)

    async def some(
        self,
        prefix: str,
        keys: Sequence[Key],
        version: str | None,
        load: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]],
        size: Callable[[Value], int],
        *,
        turn: Hashable = None,
    ) -> dict[Key, Value]:
        """Values of those keys that have one. `load` gets the keys that are not cached; callers with the same
        `turn` load one after the other. Cached values do not wait. Used on one event loop."""
        held = {key: self.get(prefix, key, version) for key in keys}
        if any(value is None for value in held.values()):
            async with self._turns.setdefault((prefix, turn), asyncio.Lock()):
                held = {key: self._valid(prefix, key, version) for key in keys}
                missing = [key for key, value in held.items() if value is None]
                loaded = await load(missing) if missing else {}
                for key, value in loaded.items():
                    self.put(prefix, key, version, value, size(value))
                    held[key] = value
        return {key: value for key, value in held.items() if value is not None}

    def _valid(self, prefix: str, key: Hashable, version: str | None) -> Any | None:
        entry = self._entries.get((prefix, key))
        return None if entry is None or version is None or entry.version != version else entry.value

    def get(self, prefix: str, key: Hashable, version: str | None) -> Any | None:
        with self._lock:
            value = self._valid(prefix, key, version)
            if value is None:
                self._misses[prefix] += 1
            else:
                self._hits[prefix] += 1
                self._entries.move_to_end((prefix, key))
            return value

    def held(self, prefix: str, key: Hashable) -> Versioned | None:
        """What is held of a key, of whatever version; counts neither as a hit nor as a miss."""
        return self._entries.get((prefix, key))

    def used(self, prefix: str, key: Hashable) -> None:
        """Count a value of `held` as a hit."""
        with self._lock:
            self._hits[prefix] += 1
            if (prefix, key) in self._entries:
                self._entries.move_to_end((prefix, key))

    def put(self, prefix: str, key: Hashable, version: str | None, value: Any, size: int) -> None:
        """Cache `value` (about `size` bytes); not without a version, nor one larger than the cache."""
        if version is None or size > self._max_bytes:
            return
        with self._lock:
            old = self._entries.pop((prefix, key), None)
            self._bytes += size - (old.size if old else 0)
            self._entries[prefix, key] = Versioned(version, value, size)
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.size
                self._evictions += 1

    def stats(self) -> dict[str, Any]:
        """Counts since the start; `size` and `maxSize` in bytes."""
        with self._lock:
            hits, misses = self._hits.total(), self._misses.total()
            return {
                "hits": hits,
                "misses": misses,
                "hitRate": round(hits / (hits + misses), 4) if hits + misses else 0.0,
                "size": self._bytes,
                "maxSize": self._max_bytes,
                "evictions": self._evictions,
                "byKey": {
                    prefix: {"hits": self._hits[prefix], "misses": self._misses[prefix]}
                    for prefix in sorted(self._hits.keys() | self._misses.keys())
                },
            }
