"""The global rate limit: a token bucket per client address, before anything else is looked at."""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from serving_api.framework.error_responses import TOO_FAST, TooManyAttempts, error_response_of

LIMITED = ("/api/", "/mcp", "/console-session")
MAX_CLIENTS = 20_000


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class TokenBuckets:
    """At most `per_minute` requests at once and on average, per key; the number of keys is bounded."""

    def __init__(
        self, per_minute: int, monotonic: Callable[[], float], *, max_clients: int = MAX_CLIENTS
    ) -> None:
        self._capacity = float(per_minute)
        self._rate = per_minute / 60.0
        self._monotonic = monotonic
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str) -> int:
        """0 when the request may pass and is counted, else the seconds after which one may."""
        now = self._monotonic()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._capacity, now)
            if len(self._buckets) > self._max_clients:
                # The one that asked longest ago; its bucket is the fullest.
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
            bucket.tokens = min(self._capacity, bucket.tokens + (now - bucket.filled_at) * self._rate)
            bucket.filled_at = now
        if bucket.tokens >= 1.0:
            bucket.tokens -= 1.0
            return 0
        return max(1, math.ceil((1.0 - bucket.tokens) / self._rate))


class RateLimitLayer:
    """Refuses with 429 more than `per_minute` requests (0: no limit) of an address below `LIMITED`."""

    def __init__(self, app: ASGIApp, per_minute: int, monotonic: Callable[[], float]) -> None:
        self.app = app
        self._buckets = TokenBuckets(per_minute, monotonic) if per_minute > 0 else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._buckets is not None and scope["path"].startswith(LIMITED):
            wait = self._buckets.take(scope["state"]["client_address"])
            if wait:
                refusal = error_response_of(TooManyAttempts(TOO_FAST, wait)).response()
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)
