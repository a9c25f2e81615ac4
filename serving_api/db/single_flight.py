"""A cache of live answers by age: one flight per key, the last good answer kept for worse times."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any

MOST_KEYS = 2048
STALE = "cache_stale"

Ttl = float | Callable[[], float]
"""Seconds; a function is asked when the answer is there, since the session may have ended meanwhile."""


@dataclass(frozen=True)
class Landed:
    """An answer and where it comes from: 'cache', 'cache_stale' or 'live'."""

    value: Any
    origin: str


@dataclass(frozen=True)
class _Kept:
    value: Any
    until: float


class SingleFlightCache:
    """Answers by key. However many callers wait for a key, one of them flies; a failure is told to all of
    them and is not kept. Used on one event loop."""

    def __init__(self, monotonic: Callable[[], float], most: int = MOST_KEYS) -> None:
        self._monotonic = monotonic
        self._most = most
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._flying: dict[Hashable, asyncio.Task[Any]] = {}

    async def take(
        self,
        key: Hashable,
        ttl: Ttl,
        make: Callable[[], Awaitable[Any]],
        *,
        use_cache: bool = True,
        stale_on: tuple[type[Exception], ...] = (),
    ) -> Landed:
        """The answer of `make`, or a kept one that is not older than its ttl. An error of `stale_on` is
        answered by the last good answer, however old, when there is one."""
        kept = self._kept.get(key)
        if use_cache and kept is not None and self._monotonic() < kept.until:
            self._kept.move_to_end(key)
            return Landed(kept.value, "cache")
        try:
            return Landed(await self._fly(key, ttl, make), "live")
        except stale_on:
            kept = self._kept.get(key)
            if kept is None:
                raise
            return Landed(kept.value, STALE)

    async def _fly(self, key: Hashable, ttl: Ttl, make: Callable[[], Awaitable[Any]]) -> Any:
        single_flight = self._flying.get(key)
        if single_flight is None:
            single_flight = asyncio.ensure_future(self._land(key, ttl, make))
            self._flying[key] = single_flight
            single_flight.add_done_callback(lambda done: self._ended(key, done))
        # A caller that goes away does not take the answer from the others.
        return await asyncio.shield(single_flight)

    async def _land(self, key: Hashable, ttl: Ttl, make: Callable[[], Awaitable[Any]]) -> Any:
        value = await make()
        seconds = ttl() if callable(ttl) else ttl
        self._kept[key] = _Kept(value, self._monotonic() + seconds)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def _ended(self, key: Hashable, single_flight: "asyncio.Task[Any]") -> None:
        self._flying.pop(key, None)
        if not single_flight.cancelled():
            single_flight.exception()  # looked at, so that nobody is told of an error that nobody waited for
