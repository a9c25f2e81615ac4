"""One part of a combined answer, cached by itself and failing by itself.

A segment that fails or is empty is empty for 20 seconds. A slow one is not waited for: the answer is
sent without it (or with its previous items), and its late result is cached for the next answer.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from resources.redact import redact
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.live.clients import Answered
from serving_api.live.shared_reads import SharedReads
from serving_api.live.single_flight import SingleFlight, SingleFlightCache

log = logging.getLogger(__name__)

WAIT_S = 4.0
EMPTY_TTL_S = 20.0
Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """`cached`: this process did not ask a source. `at`: when it was captured, None for an empty one.
    `failed`: no source answered, or none has in time."""

    items: Items
    cached: bool
    at: datetime | None = None
    failed: bool = False


class Segment:
    """Used on one event loop. Cached items of another date than `day` are never returned."""

    def __init__(
        self,
        name: str,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
        shared: SharedReads,
    ) -> None:
        """`shared`: the API processes of one deployment ask once; items are plain JSON."""
        self._name = name
        self._shared = shared
        self._now = now
        self._cache: SingleFlightCache[tuple[Items, datetime | None]] = SingleFlightCache(
            monotonic, max_keys=1
        )
        """(items, when they were captured), by day."""
        self._running: SingleFlight[bool] = SingleFlight()
        self._failed = False

    async def read(
        self, day: str, ttl: Callable[[], float], make: Callable[[], Awaitable[Items]], *, use_cache: bool
    ) -> Part:
        """The items of `day`. `ttl` is called when the answer is there."""
        cached = self._cache.kept(day)
        if use_cache and cached is not None and self._cache.is_fresh(cached):
            items, at = cached.value
            return Part(items, True, at, self._failed)
        task = self._running.start(day, lambda: self._make(day, ttl, make, use_cache=use_cache))
        done, _ = await asyncio.wait({task}, timeout=WAIT_S)
        if not done:
            self._cache.keep(day, cached.value if cached else ([], None), EMPTY_TTL_S)
        cached = self._cache.kept(day)
        items, at = cached.value if cached else ([], None)
        return Part(items, bool(done) and not task.result(), at, self._failed or not done)

    async def settled(self) -> None:
        """Wait for late reads (tests)."""
        await self._running.settled()

    def close(self) -> None:
        self._running.close()
        self._cache.clear()

    async def _make(
        self, day: str, ttl: Callable[[], float], make: Callable[[], Awaitable[Items]], *, use_cache: bool
    ) -> bool:
        """Whether a source was asked, instead of taking another process's result."""
        name = f"segment {self._name}"
        if use_cache:
            reported = await self._shared.find_or_claim(name, day)
            if reported is not None:
                self._cache.keep(day, (reported.answer.value, reported.answer.at), reported.left)
                self._failed = False
                return False
        items: Items = []
        try:
            items = await make()
            self._failed = False
        except DATA_FAILURES as error:
            self._failed = True
            log.warning("%s: %s: %s", self._name, type(error).__name__, redact(str(error)))
        seconds = ttl() if items else EMPTY_TTL_S
        at = self._now() if items else None
        self._cache.keep(day, (items, at), seconds)
        self._shared.put(name, day, Answered(items, at=at), seconds)
        return True
