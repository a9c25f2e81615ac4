"""Time of the machine, as tokens and limits need it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True)
class SystemTime:
    """Seconds of the machine: tokens, lockout, quota day and heartbeats, never the market clock."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def local(self) -> datetime:
        """Naive Asia/Shanghai time of the machine."""
        return datetime.fromtimestamp(self.wall(), UTC).replace(tzinfo=None) + timedelta(hours=8)
