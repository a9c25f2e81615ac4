"""The health status. Heartbeats are compared with the machine's clock, the calendar with the market's."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import anyio

from core.clock import local_iso
from core.errors import DiskFull, PlatformError, StorageError
from resources.orchestrator import DAEMON_FRESH_S, Orchestrator
from resources.warehouse.ledger.heartbeats import FRESH, WORKERS, Heartbeats, Node, last_tick
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.write_probe import WriteProbe
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


def heartbeat(warehouse: Warehouse) -> tuple[Node | None, datetime | None]:
    """The scheduler process with the newest heartbeat, and the scheduler's last tick."""
    nodes = Heartbeats(warehouse.engine).all()
    return next((node for node in nodes if node.role in WORKERS), None), last_tick(nodes)


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
        (write_ms, unwritable), free_mb, beats, processes = await asyncio.gather(
            self._bounded(self._writes, (None, BUSY)),
            self._bounded(self._free_mb, None),
            self._bounded(self._daemon, None),
            self._bounded(self._processes, {}),
        )
        return Look(write_ms, unwritable, free_mb, beats, processes)

    async def _bounded(self, work: Callable[[], Any], otherwise: Any) -> Any:
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
    orchestrator = Orchestrator.of(settings, timeout_s=WAIT_S)
    return Surroundings(
        settings.data_path, probe.write, orchestrator.daemon_beats, state.system.monotonic, probe.close
    )


CALENDAR_ALARM_DAYS = 30
FREE_ALARM_MB = 200
_DAEMON = "dagster_daemon"
_SHANGHAI = timedelta(hours=8)


def package_version() -> str:
    try:
        return version("ashare-platform")
    except PackageNotFoundError:
        return "0+unknown"


async def report(state: State) -> dict[str, Any]:
    """Degraded when the database cannot be read or written, the disk is nearly full, a process of this
    installation is missing, the published calendar ends within 30 days, or this process should have a
    scheduler next to it whose daemon or worker has no recent heartbeat. `problems` names the causes."""
    seen = await state.part(surroundings_of).look()
    database = await _database(state, seen)
    node, tick = await read_or((None, None), off_loop(heartbeat, state.reading.warehouse))
    worker = _worker(state, node)
    scheduler = _scheduler(state, seen, tick)
    disk = {"ok": seen.free_mb is not None and seen.free_mb >= FREE_ALARM_MB, "free_mb": seen.free_mb}
    now = state.clock.now()
    days_left = state.calendar.days_left(now.date().isoformat())
    problems = [
        *_troubles(database, disk),
        *(f"{name} keeps ending" for name, one in seen.processes.items() if one.get("in_loop")),
        *(
            f"{name} is {one.get('state')}"
            for name, one in seen.processes.items()
            if one.get("state") != "running"
        ),
    ]
    if state.settings.role != "web" and state.settings.enable_scheduler:
        problems += [] if worker["fresh"] else ["the worker is silent"]
        problems += [] if scheduler["running"] else ["the scheduler is silent"]
    if days_left < CALENDAR_ALARM_DAYS:
        problems.append(
            f"the published trade calendar ends on {state.calendar.confirmed_until}; "
            "days after it are by the rules of the holidays"
        )
    return {
        "status": "degraded" if problems else "ok",
        "problems": problems,
        "version": package_version(),
        "role": state.settings.role,
        "time": local_iso(now),
        "db": database,
        "disk": disk,
        "scheduler": scheduler,
        "worker": worker,
        "processes": [_process(name, one) for name, one in seen.processes.items()],
        "calendar": {"horizon": state.calendar.confirmed_until, "days_left": days_left},
        "config": state.settings.masked(),
    }


def _troubles(database: Mapping[str, Any], disk: Mapping[str, Any]) -> Iterator[str]:
    if not database["ok"]:
        yield "the database cannot be read"
    elif not database["writable"]:
        full = database["reason"] == "disk_full"
        yield "the disk of the database is full" if full else "the database cannot be written"
    if not disk["ok"]:
        free = disk["free_mb"]
        yield "the data folder is away" if free is None else f"only {free} MB of disk are free"


async def _database(state: State, seen: Look) -> dict[str, Any]:
    written: dict[str, Any] = {"writable": seen.unwritable is None}
    written |= {"write_ms": seen.write_ms} if seen.unwritable is None else {"reason": seen.unwritable}
    started = state.system.monotonic()
    try:
        await state.reading.point(Session.ping)
    except StorageError:
        return {"ok": False, **written}
    return {"ok": True, "latency_ms": round((state.system.monotonic() - started) * 1000, 3), **written}


def _worker(state: State, node: Node | None) -> dict[str, Any]:
    if node is None:
        return {"fresh": False, "beatAt": None}
    return {"fresh": node.fresh(state.system.local()), "beatAt": local_iso(node.beat_at)}


def _scheduler(state: State, seen: Look, tick: datetime | None) -> dict[str, Any]:
    """By the daemon's own heartbeats; when these cannot be read, by the last tick of its sensor."""
    local = state.system.local()
    beats, oldest = seen.daemon_beats, None
    if beats is None:
        heard = tick is not None and local - tick <= FRESH
    else:
        known = [
            datetime.fromtimestamp(at, UTC).replace(tzinfo=None) + _SHANGHAI for at in beats.values() if at
        ]
        oldest = min(known) if known and len(known) == len(beats) else None
        heard = oldest is not None and (local - oldest).total_seconds() <= DAEMON_FRESH_S
    looping = bool(seen.processes.get(_DAEMON, {}).get("in_loop"))
    return {
        "running": heard and not looping and state.settings.enable_scheduler,
        "idle": state.settings.why_idle(state.clock),
        "lastTickAt": local_iso(tick) if tick else None,
        "daemonBeatAt": local_iso(oldest) if oldest else None,
    }


def _process(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    since = facts.get("since")
    return {
        "name": name,
        "state": facts.get("state", "ended"),
        "pid": facts.get("pid"),
        "since": local_iso(datetime.fromisoformat(since)) if since else None,
        "restarts": facts.get("restarts", 0),
        "last_exit": facts.get("last_exit"),
        "in_loop": bool(facts.get("in_loop")),
    }
