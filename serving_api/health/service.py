"""Puts the pulse together. Heartbeats are judged by the machine's clock, the calendar by the market's."""

from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

from resources.errors import StorageError
from serving_api.envelope import local_iso
from serving_api.failures import read_or
from serving_api.health import queries
from serving_api.state import State

HEARTBEAT_FRESH = timedelta(seconds=90)
CALENDAR_ALARM_DAYS = 30


def package_version() -> str:
    try:
        return version("ashare-platform")
    except PackageNotFoundError:
        return "0+unknown"


async def report(state: State) -> dict[str, Any]:
    """Degraded when the database is away, the calendar ends within 30 days, or this process should have a
    scheduler beside it and nothing beats."""
    database = await _database(state)
    beat = await read_or(None, state.reading.point(queries.newest_beat))
    worker, scheduler = _pulse(beat, state.system.local())
    now = state.clock.now()
    days_left = state.calendar.days_left(now.date().isoformat())
    scheduler_due = state.settings.role != "web" and state.settings.enable_scheduler
    fine = database["ok"] and days_left >= CALENDAR_ALARM_DAYS and (worker["fresh"] or not scheduler_due)
    return {
        "status": "ok" if fine else "degraded",
        "version": package_version(),
        "role": state.settings.role,
        "time": local_iso(now),
        "db": database,
        "scheduler": scheduler,
        "worker": worker,
        "calendar": {"horizon": state.calendar.horizon, "days_left": days_left},
        "config": state.settings.masked(),
    }


async def _database(state: State) -> dict[str, Any]:
    started = state.system.monotonic()
    try:
        await state.reading.point(queries.ping)
    except StorageError:
        return {"ok": False}
    return {"ok": True, "latency_ms": round((state.system.monotonic() - started) * 1000, 3)}


def _pulse(beat: tuple[str | None, Any] | None, now: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
    """(worker, scheduler). The state of a heartbeat may say `scheduler` (bool) and `lastTickAt`."""
    if beat is None or beat[0] is None:
        return {"fresh": False, "beatAt": None}, {"running": False, "lastTickAt": None}
    beat_at = datetime.fromisoformat(beat[0])
    fresh = now - beat_at <= HEARTBEAT_FRESH
    told = _object(beat[1])
    running = fresh and bool(told.get("scheduler", True))
    return (
        {"fresh": fresh, "beatAt": local_iso(beat_at)},
        {"running": running, "lastTickAt": told.get("lastTickAt")},
    )


def _object(text: Any) -> dict[str, Any]:
    try:
        value = orjson.loads(text or b"{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
