"""Login lockout: five failures in a row of one address and name block further logins for 300 s.

Separate from the global rate limit, and per process. Attempts of one pair run one after another, so
that parallel guesses cannot bypass the count.
"""

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from serving_api.framework.error_responses import LOCKED, TooManyAttempts

MAX_FAILURES = 5
LOCK_S = 300
MAX_PAIRS = 20_000


@dataclass
class _Pair:
    failures: int = 0
    locked_until: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Attempt:
    """One login attempt; it counts as failed unless `succeed` is called."""

    def __init__(self) -> None:
        self.succeeded = False

    def succeed(self) -> None:
        self.succeeded = True


class Lockout:
    """Failures by (address, name). `wall` returns seconds."""

    def __init__(self, wall: Callable[[], float], *, max_pairs: int = MAX_PAIRS) -> None:
        self._wall = wall
        self._max_pairs = max_pairs
        self._pairs: OrderedDict[tuple[str, str], _Pair] = OrderedDict()

    @asynccontextmanager
    async def attempt(self, address: str, username: str) -> AsyncIterator[Attempt]:
        """Guards one attempt. Raises TooManyAttempts while locked, before any password is checked. An
        attempt that ends in an unexpected error is not counted."""
        pair = self._pair((address, username.casefold()))
        async with pair.turn:
            wait = pair.locked_until - self._wall()
            if wait > 0:
                raise TooManyAttempts(LOCKED, max(1, math.ceil(wait)))
            attempt = Attempt()
            yield attempt
            if attempt.succeeded:
                pair.failures = 0
                return
            pair.failures += 1
            if pair.failures >= MAX_FAILURES:
                pair.failures = 0
                pair.locked_until = self._wall() + LOCK_S

    def _pair(self, key: tuple[str, str]) -> _Pair:
        pair = self._pairs.get(key)
        if pair is None:
            pair = self._pairs[key] = _Pair()
            if len(self._pairs) > self._max_pairs:
                self._pairs.popitem(last=False)
        else:
            self._pairs.move_to_end(key)
        return pair
