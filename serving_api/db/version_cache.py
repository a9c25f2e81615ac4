"""The one cache of the API: values of one version of their tables, answers among them, bounded by bytes."""

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from serving_api.db.adjusted_reads import AdjustedReads, note, noting

_NOTHING = AdjustedReads()
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass
class Entry:
    """A value, the version of the tables that it was made from, its bytes, about, and what was noted while it
    was made."""

    version: str
    value: Any
    size: int
    reads: AdjustedReads


class VersionCache:
    """Values by (prefix, key). A value of another version is a miss and is replaced; none expires with time.

    A load may be of several keys, of which other callers have some. A caller that waited looks again and
    loads what is still missing: a failure is not shared, a cancelled caller leaves no load running.
    """

    def __init__(self, max_bytes: int = 128 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._evictions = 0
        self._entries: OrderedDict[tuple[str, Hashable], Entry] = OrderedDict()
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
                loaded: Mapping[Key, Value] = {}
                if missing:
                    with noting() as reads:
                        loaded = await load(missing)
                for key, value in loaded.items():
                    self.put(prefix, key, version, value, size(value), reads)
                    held[key] = value
        return {key: value for key, value in held.items() if value is not None}

    def _valid(self, prefix: str, key: Hashable, version: str | None) -> Any | None:
        entry = self._entries.get((prefix, key))
        if entry is None or version is None or entry.version != version:
            return None
        if entry.reads.some:
            note(entry.reads)
        return entry.value

    def get(self, prefix: str, key: Hashable, version: str | None) -> Any | None:
        with self._lock:
            value = self._valid(prefix, key, version)
            if value is None:
                self._misses[prefix] += 1
            else:
                self._hits[prefix] += 1
                self._entries.move_to_end((prefix, key))
            return value

    def put(
        self, prefix: str, key: Hashable, version: str | None, value: Any, size: int,
        reads: AdjustedReads = _NOTHING,
    ) -> None:  # fmt: skip
        """Cache `value` (about `size` bytes), made from `reads`; not without a version, nor one larger than
        the cache."""
        if version is None or size > self._max_bytes:
            return
        with self._lock:
            old = self._entries.pop((prefix, key), None)
            self._bytes += size - (old.size if old else 0)
            self._entries[prefix, key] = Entry(version, value, size, reads)
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.size
                self._evictions += 1

    def stats(self) -> dict[str, Any]:
        """Counts since the start; `size` and `maxSize` in bytes."""
        with self._lock:
            hits, misses = self._hits.total(), self._misses.total()
            prefixes = sorted(self._hits.keys() | self._misses.keys())
            return {
                "hits": hits, "misses": misses,
                "hitRate": round(hits / (hits + misses), 4) if hits + misses else 0.0,
                "size": self._bytes, "maxSize": self._max_bytes, "evictions": self._evictions,
                "byKey": {one: {"hits": self._hits[one], "misses": self._misses[one]} for one in prefixes},
            }  # fmt: skip
