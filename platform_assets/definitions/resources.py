"""Dagster resource: the platform that a run works with (warehouse, upstream desk, calendar, clock).

One per run, closed with it: what it holds open are connections to the database and to upstreams, and a
worker executes run after run. Configuration comes from the process's settings, never from the run, so that
no secret reaches the Dagster UI.
"""

import logging
import threading

import dagster as dg
from pydantic import PrivateAttr

from core.errors import StorageError
from core.stopping import can_be_stopped
from resources import logs
from resources.composition import Platform, open_platform
from resources.run_heartbeat import RunHeartbeat
from resources.settings import process_settings

log = logging.getLogger(__name__)


class PlatformResource(dg.ConfigurableResource[Platform]):
    """Opens the platform lazily, once, and shares it between the assets of a run."""

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _platform: Platform | None = PrivateAttr(default=None)
    _heartbeat: RunHeartbeat | None = PrivateAttr(default=None)
    _run_id: str | None = PrivateAttr(default=None)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Called by Dagster when the run begins."""
        self._run_id = None if context.run is None else context.run.run_id

    def open(self) -> Platform:
        with self._lock:
            if self._platform is None:
                # A run that was started as a process has no log of its own yet; in the worker there is one.
                logs.ensure(process_settings(), "code_location")
                self._platform = open_platform()
                # Who listens for a wish to stop is the worker, and it has a heartbeat already.
                if self._run_id is not None and not can_be_stopped():
                    self._heartbeat = RunHeartbeat(self._platform.warehouse.engine, self._run_id)
                    self._heartbeat.start()
            return self._platform

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Called by Dagster when the run has ended, however it did."""
        with self._lock:
            platform, self._platform = self._platform, None
            heartbeat, self._heartbeat = self._heartbeat, None
        if heartbeat is not None:
            try:
                heartbeat.stop()
            except StorageError as error:
                log.warning("run %s: its heartbeat stays behind: %s", self._run_id, error.message)
        if platform is not None:
            platform.close()
