"""One part of an answer that is made of several: kept by itself, failing by itself.

A segment that fails or has nothing is empty for 20 seconds. One that is slow is left behind: the answer goes
out without it (or with what it said before), and what it finds later is kept for the next one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from resources.transport.redact import redact
from serving_api.db.single_flight import SingleFlight
from serving_api.framework.read_failures import DATA_FAILURES
from serving_api.live.clients import Answered
from serving_api.live.shared_reads import SharedReads

log = logging.getLogger("serving_api.live")

WAIT_S = 4.0
EMPTY_TTL_S = 20.0
Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """`cached`: nobody was asked for it by this process. `at`: when it was found, None for an empty one."""

    items: Items
    cached: bool
    at: datetime | None = None


@dataclass(frozen=True)
class _Kept:
    day: str
    items: Items
    at: datetime | None
    until: float


class Segment:
    """Used on one event loop. What is kept of another date than `day` is never told."""

    def __init__(
        self,
        name: str,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
        shared: SharedReads | None = None,
    ) -> None:
        """With `shared` the API processes of one deployment ask once; items are plain JSON then."""
        self._name = name
        self._shared = shared
        self._monotonic = monotonic
        self._now = now
        self._kept: _Kept | None = None
        self._running: SingleFlight[bool] = SingleFlight()

    async def read(
        self, day: str, ttl: Callable[[], float], make: Callable[[], Awaitable[Items]], *, use_cache: bool
    ) -> Part:
        """The items of `day`. `ttl` is asked when the answer is there."""
        kept = self._of(day)
        if use_cache and kept is not None and self._monotonic() < kept.until:
            return Part(kept.items, True, kept.at)
        task = self._running.start(day, lambda: self._make(day, ttl, make, use_cache=use_cache))
        done, _ = await asyncio.wait({task}, timeout=WAIT_S)
        asked = True
        if done:
            asked = task.result()
        else:
            self._keep(day, kept.items if kept else [], kept.at if kept else None, EMPTY_TTL_S)
        kept = self._of(day)
        return Part([], not asked) if kept is None else Part(kept.items, not asked, kept.at)

    async def settled(self) -> None:
        """Wait for what was left behind (tests)."""
        await self._running.settled()

    def close(self) -> None:
        self._running.close()
        self._kept = None

    async def _make(
        self, day: str, ttl: Callable[[], float], make: Callable[[], Awaitable[Items]], *, use_cache: bool
    ) -> bool:
        """Whether somebody was asked, and not what another process has found."""
        name = f"segment {self._name}"
        if use_cache and self._shared is not None:
            reported = await self._shared.find_or_claim(name, day)
            if reported is not None:
                self._keep(day, reported.answer.value, reported.answer.at, reported.left)
                return False
        items: Items = []
        try:
            items = await make()
        except DATA_FAILURES as error:
            log.warning("%s: %s: %s", self._name, type(error).__name__, redact(str(error)))
        seconds = ttl() if items else EMPTY_TTL_S
        at = self._now() if items else None
        self._keep(day, items, at, seconds)
        if self._shared is not None:
            self._shared.put(name, day, Answered(items, at=at), seconds)
        return True

    def _of(self, day: str) -> _Kept | None:
        return self._kept if self._kept is not None and self._kept.day == day else None

    def _keep(self, day: str, items: Items, at: datetime | None, seconds: float) -> None:
        self._kept = _Kept(day, items, at, self._monotonic() + seconds)
