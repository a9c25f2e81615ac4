"""Puts the pulse together. Heartbeats are judged by the machine's clock, the calendar by the market's."""

from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import anyio

from resources.errors import StorageError
from resources.warehouse.ledger.heartbeats import Node
from serving_api.envelope import local_iso
from serving_api.failures import read_or
from serving_api.health import queries
from serving_api.state import State

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
    worker, scheduler = _pulse(state, *await read_or((None, None), _heard(state)))
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


async def _heard(state: State) -> tuple[Node | None, datetime | None]:
    return await anyio.to_thread.run_sync(queries.pulse, state.reading.warehouse)


async def _database(state: State) -> dict[str, Any]:
    started = state.system.monotonic()
    try:
        await state.reading.point(queries.ping)
    except StorageError:
        return {"ok": False}
    return {"ok": True, "latency_ms": round((state.system.monotonic() - started) * 1000, 3)}


def _pulse(state: State, node: Node | None, tick: datetime | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """(worker, scheduler): who was heard last, and when the scheduler ticked."""
    if node is None:
        return {"fresh": False, "beatAt": None}, {"running": False, "lastTickAt": None}
    fresh = node.fresh(state.system.local())
    return (
        {"fresh": fresh, "beatAt": local_iso(node.beat_at)},
        {
            "running": fresh and state.settings.enable_scheduler,
            "lastTickAt": local_iso(tick) if tick else None,
        },
    )
