"""Dagster resource: the platform that a run works with (warehouse, upstream desk, calendar, clock).

One per process and code location. Configuration comes from the process's settings, never from the run,
so that no secret reaches the Dagster UI.
"""

import threading

import dagster as dg
from pydantic import PrivateAttr

from resources import logs
from resources.platform import Platform, open_platform
from resources.settings import process_settings


class PlatformResource(dg.ConfigurableResource[Platform]):
    """Opens the platform lazily, once, and shares it between the assets of a process."""

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _platform: Platform | None = PrivateAttr(default=None)

    def open(self) -> Platform:
        with self._lock:
            if self._platform is None:
                # A run that was started as a process has no log of its own yet; in the worker there is one.
                logs.ensure(process_settings(), "code_location")
                self._platform = open_platform()
            return self._platform
