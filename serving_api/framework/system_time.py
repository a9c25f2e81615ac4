"""Time of the machine, as tokens and limits need it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


def elapsed() -> float:
    """Seconds since the start of the machine, those of its sleep included where the system tells them: what
    was kept before a suspend has aged after it."""
    return time.clock_gettime(_ASLEEP_TOO) if _ASLEEP_TOO is not None else time.monotonic()


_ASLEEP_TOO: int | None = getattr(time, "CLOCK_BOOTTIME", None)


@dataclass(frozen=True)
class SystemTime:
    """Seconds of the machine: tokens, lockout, quota day and heartbeats, never the market clock."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = elapsed

    def local(self) -> datetime:
        """Naive Asia/Shanghai time of the machine."""
        return datetime.fromtimestamp(self.wall(), UTC).replace(tzinfo=None) + timedelta(hours=8)
