"""A cache of values that belong to one version of their tables: bounded by bytes, oldest use first out."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

DEFAULT_BYTES = 128 * 1024 * 1024


@dataclass
class _Entry:
    version: str
    value: Any
    size: int


@dataclass
class _Count:
    hits: int = 0
    misses: int = 0


class VersionedCache:
    """Values by (prefix, key). A value of another version is a miss and is replaced."""

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._evictions = 0
        self._entries: OrderedDict[tuple[str, Hashable], _Entry] = OrderedDict()
        self._counts: dict[str, _Count] = {}
        self._lock = threading.Lock()

    def get(self, prefix: str, key: Hashable, version: str | None) -> Any | None:
        with self._lock:
            count = self._counts.setdefault(prefix, _Count())
            entry = self._entries.get((prefix, key))
            if entry is None or version is None or entry.version != version:
                count.misses += 1
                return None
            count.hits += 1
            self._entries.move_to_end((prefix, key))
            return entry.value

    def put(self, prefix: str, key: Hashable, version: str | None, value: Any, size: int) -> None:
        """Keep `value` (about `size` bytes); without a version, or larger than the cache, it is not kept."""
        if version is None or size > self._max_bytes:
            return
        with self._lock:
            old = self._entries.pop((prefix, key), None)
            self._bytes += size - (old.size if old else 0)
            self._entries[prefix, key] = _Entry(version, value, size)
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.size
                self._evictions += 1

    def stats(self) -> dict[str, Any]:
        """Counts since the start; `size` and `maxSize` in bytes."""
        with self._lock:
            hits = sum(count.hits for count in self._counts.values())
            misses = sum(count.misses for count in self._counts.values())
            return {
                "hits": hits,
                "misses": misses,
                "hitRate": round(hits / (hits + misses), 4) if hits + misses else 0.0,
                "size": self._bytes,
                "maxSize": self._max_bytes,
                "evictions": self._evictions,
                "byKey": {
                    prefix: {"hits": count.hits, "misses": count.misses}
                    for prefix, count in sorted(self._counts.items())
                },
            }
