"""Checks of the machine: a real write, the free disk, the daemon, the processes of this installation. A
check takes some milliseconds, waits two seconds at most, and is cached for five."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import anyio

from core.errors import DiskFull, PlatformError
from resources.orchestrator import Orchestrator
from resources.warehouse.write_probe import WriteProbe
from serving_api.framework.state import State

T = TypeVar("T")
KEEP_S = 5.0
WAIT_S = 2.0
FULL, BUSY = "disk_full", "busy_or_away"
RUN_FILES = ("run.json", "run-web.json")
"""The processes of this data folder, as its supervisors report them."""


@dataclass(frozen=True)
class Look:
    """`unwritable`: why nothing can be written, None when writing works. `free_mb` None: the folder does
    not exist. `daemon_beats`: seconds of the epoch by part of the daemon, None when they cannot be
    read."""

    write_ms: float | None
    unwritable: str | None
    free_mb: int | None
    daemon_beats: Mapping[str, float | None] | None
    processes: Mapping[str, Mapping[str, Any]]


class Surroundings:
    """Runs the checks, and caches their result."""

    def __init__(
        self,
        folder: Path,
        write: Callable[[], float],
        daemon_beats: Callable[[], Mapping[str, float | None]],
        monotonic: Callable[[], float],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.close = close
        self._folder = folder
        self._write = write
        self._beats = daemon_beats
        self._monotonic = monotonic
        self._looking = anyio.Lock()
        self._limiter = anyio.CapacityLimiter(4)
        self._seen: Look | None = None
        self._at = 0.0

    async def look(self) -> Look:
        async with self._looking:
            if self._seen is None or not 0 <= self._monotonic() - self._at < KEEP_S:
                self._seen = await self._fresh()
                self._at = self._monotonic()
            return self._seen

    async def _fresh(self) -> Look:
        found: dict[str, Any] = {}

        async def keep(name: str, work: Callable[[], Any], otherwise: Any) -> None:
            found[name] = await self._bounded(work, otherwise)

        async with anyio.create_task_group() as group:
            group.start_soon(keep, "write", self._writes, (None, BUSY))
            group.start_soon(keep, "free", self._free_mb, None)
            group.start_soon(keep, "beats", self._daemon, None)
            group.start_soon(keep, "processes", self._processes, {})
        write_ms, unwritable = found["write"]
        return Look(write_ms, unwritable, found["free"], found["beats"], found["processes"])

    async def _bounded(self, work: Callable[[], T], otherwise: T) -> T:
        """Runs in a thread that is abandoned when it takes too long: a disk or a server may hang."""
        with anyio.move_on_after(WAIT_S):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        return otherwise

    def _writes(self) -> tuple[float | None, str | None]:
        try:
            return round(self._write() * 1000, 3), None
        except DiskFull:
            return None, FULL
        except PlatformError:
            return None, BUSY

    def _free_mb(self) -> int | None:
        try:
            return shutil.disk_usage(self._folder).free // 1_000_000
        except OSError:
            return None

    def _daemon(self) -> Mapping[str, float | None] | None:
        try:
            return self._beats()
        except (PlatformError, LookupError, TypeError):
            return None

    def _processes(self) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for name in RUN_FILES:
            try:
                facts = json.loads((self._folder / name).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            listed = facts.get("processes") if isinstance(facts, dict) else None
            # An API with its own supervisor has its own simulated market: the first one is shown.
            found = {**(listed or {}), **found}
        return found


def surroundings_of(state: State) -> Surroundings:
    settings = state.settings
    probe = WriteProbe(settings.warehouse_address, "api")
    orchestrator = Orchestrator(settings.dagster_port, host=settings.dagster_host, timeout_s=WAIT_S)
    return Surroundings(
        settings.data_path, probe.write, orchestrator.daemon_beats, state.system.monotonic, probe.close
    )
