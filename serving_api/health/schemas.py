"""Body of /health."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class Database(BaseModel):
    ok: bool
    latency_ms: float | None = None


class Scheduler(BaseModel):
    running: bool
    lastTickAt: str | None


class Worker(BaseModel):
    fresh: bool = Field(description="the newest heartbeat is at most 90 s old")
    beatAt: str | None


class Calendar(BaseModel):
    horizon: str = Field(description="last known trade date")
    days_left: int


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    version: str
    role: Literal["all", "web", "worker"]
    time: str
    db: Database
    scheduler: Scheduler
    worker: Worker
    calendar: Calendar
    config: dict[str, Any] = Field(description="every setting by its environment name, secrets masked")
