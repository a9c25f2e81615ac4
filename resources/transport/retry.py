"""How long to wait before the next attempt: exponential with jitter, or what the upstream asked for."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from resources.transport.settings import TransportSettings


@dataclass(frozen=True)
class RetryPolicy:
    """At most `attempts` tries. Waits double from `base_sec` to `cap_sec`, each scaled by 0.5..1.5."""

    attempts: int
    base_sec: float
    cap_sec: float
    retry_after_max_sec: float

    @classmethod
    def of(cls, settings: TransportSettings) -> "RetryPolicy":
        return cls(
            attempts=max(1, settings.retry_attempts),
            base_sec=settings.retry_base_sec,
            cap_sec=settings.retry_cap_sec,
            retry_after_max_sec=settings.retry_after_max_sec,
        )

    def wait(self, attempt: int, retry_after: float | None, rng: random.Random) -> float | None:
        """Seconds before the attempt after `attempt` (1-based); None = do not try again."""
        if attempt >= self.attempts:
            return None
        if retry_after is not None:
            # Clients that come back earlier than asked get banned, so a long Retry-After ends the call.
            return retry_after if retry_after <= self.retry_after_max_sec else None
        backoff = min(self.cap_sec, self.base_sec * 2.0 ** (attempt - 1))
        return backoff * rng.uniform(0.5, 1.5)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds from a Retry-After header (a number or an HTTP date); None when absent or unreadable.

    `now` is UTC without zone."""
    if not value:
        return None
    text = value.strip()
    if text.isdigit():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    return max(0.0, (when - now).total_seconds())
