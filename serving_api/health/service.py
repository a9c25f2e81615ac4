"""The health status. Heartbeats are compared with the machine's clock, the calendar with the market's."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio

from core.errors import StorageError
from resources.orchestrator import DAEMON_FRESH_S
from resources.warehouse.ledger.heartbeats import FRESH, Node
from serving_api.framework.envelope import local_iso
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.health import queries
from serving_api.health.surroundings import Look, surroundings_of

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
    installation is missing, the calendar ends within 30 days, or this process should have a scheduler
    next to it whose daemon or worker has no recent heartbeat. `problems` names the causes."""
    seen = await state.part(surroundings_of).look()
    database = await _database(state, seen)
    node, tick = await read_or((None, None), _heard(state))
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
        problems.append(f"the trade calendar ends in {days_left} days")
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
        "calendar": {"horizon": state.calendar.horizon, "days_left": days_left},
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


async def _heard(state: State) -> tuple[Node | None, datetime | None]:
    return await anyio.to_thread.run_sync(queries.heartbeat, state.reading.warehouse)


async def _database(state: State, seen: Look) -> dict[str, Any]:
    written: dict[str, Any] = {"writable": seen.unwritable is None}
    written |= {"write_ms": seen.write_ms} if seen.unwritable is None else {"reason": seen.unwritable}
    started = state.system.monotonic()
    try:
        await state.reading.point(queries.ping)
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
