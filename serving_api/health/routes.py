"""/health, at the root."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.health.service import report


class Database(BaseModel):
    ok: bool = Field(description="it can be read")
    latency_ms: float | None = None
    writable: bool = Field(description="a row was written within the last five seconds")
    write_ms: float | None = None
    reason: Literal["disk_full", "busy_or_away"] | None = Field(None, description="why it is not writable")


class Disk(BaseModel):
    ok: bool = Field(description="there is enough room for some time")
    free_mb: int | None = Field(description="free space of the data folder's disk; null = it cannot be read")


class Scheduler(BaseModel):
    running: bool = Field(
        description="every part of Dagster's daemon has a recent heartbeat, and it does not keep restarting"
    )
    idle: str | None = Field(
        description="why no task starts by its schedule, e.g. the market clock is frozen; null = they start"
    )
    lastTickAt: str | None = Field(description="when its sensor ran last")
    daemonBeatAt: str | None = Field(description="of the part with the oldest heartbeat; null = unknown")


class Worker(BaseModel):
    fresh: bool = Field(description="the newest heartbeat is at most 90 s old")
    beatAt: str | None


class Process(BaseModel):
    name: str
    state: Literal["running", "silent", "restarting", "ended"]
    pid: int | None
    since: str | None
    restarts: int
    last_exit: int | None
    in_loop: bool = Field(description="it ended three times within ten minutes")


class Calendar(BaseModel):
    horizon: str = Field(description="last day that the exchange has published; later ones are provisional")
    days_left: int = Field(description="calendar days to it")


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    problems: list[str] = Field(description="why it is degraded")
    version: str
    role: Literal["all", "web", "worker"]
    time: str
    db: Database
    disk: Disk
    scheduler: Scheduler
    worker: Worker
    processes: list[Process] = Field(
        description="processes of this data folder's supervisors; empty = it has none here"
    )
    calendar: Calendar
    config: dict[str, Any] = Field(description="every setting by its environment name, secrets masked")


router = area_router("/health", "health")


@router.get("", response_model=Health)
@serves(cache=NO_STORE)
async def health(call: Anyone) -> Answer:
    """Always 200; `status` says whether everything works."""
    return Answer(await report(call.state))
