"""Dagster resource: the platform that a run works with (warehouse, upstream desk, calendar, clock).

One per process and code location. Configuration comes from the process's settings, never from the run,
so that no secret reaches the Dagster UI.
"""

import threading

import dagster as dg
from pydantic import PrivateAttr

from resources.platform import Platform, open_platform


class PlatformResource(dg.ConfigurableResource[Platform]):
    """Opens the platform lazily, once, and shares it between the assets of a process."""

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _platform: Platform | None = PrivateAttr(default=None)

    def open(self) -> Platform:
        with self._lock:
            if self._platform is None:
                self._platform = open_platform()
            return self._platform
