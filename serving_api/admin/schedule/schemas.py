"""Request and response models of the schedule routes and of the task runs."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, StrictBool, StrictInt, model_validator

from serving_api.framework.openapi import example
from serving_api.framework.row_models import Instant, StoredRow

RunStatus = Literal["queued", "running", "success", "partial", "failed", "skipped", "missed", "canceled"]


def _time_of_day(value: int) -> int:
    if not 0 <= value <= 2359 or value % 100 > 59:
        raise ValueError(f"{value} is no time of day; HHMM is allowed, 0..2359 with minutes below 60")
    return value


class TaskItem(BaseModel):
    """One scheduled task with its settings in force."""

    key: str
    name: str
    enabled: bool
    triggerHm: int | None = Field(description="HHMM; null = no single time of day")
    time: str | None
    cron: str | None
    tradingDayOnly: bool
    dependsOn: list[str]
    maxRetries: int
    retryDelaySec: int
    running: bool
    lastRunAt: str | None
    lastStatus: RunStatus | None
    nextRunAt: str | None
    note: str


class Heartbeat(BaseModel):
    nodeId: str | None
    beatAt: str | None
    fresh: bool = Field(description="at most 90 s old")


class LockItem(BaseModel):
    held: bool
    holder: str | None
    since: str | None


class RunningTask(BaseModel):
    key: str
    startedAt: str | None
    runId: str | None


class Today(BaseModel):
    """Scheduled runs of the day. `skipped` includes missed and canceled ones, `pending` those still to
    come."""

    success: int
    failed: int
    skipped: int
    pending: int


class SchedulerStatus(BaseModel):
    running: bool
    role: Literal["all", "web", "worker"]
    tickSeconds: int
    lastTickAt: str | None
    heartbeat: Heartbeat
    locks: dict[str, LockItem]
    runningTasks: list[RunningTask]
    today: Today


class TaskRunRequest(BaseModel):
    """`date`: a trade date, default the newest complete one. `force` requests a run even while another one of
    the task is running."""

    model_config = example(extra="forbid", date="2026-08-21", force=False)
    date: Annotated[str, Field(max_length=32)] | None = None
    force: StrictBool = False


class RunAccepted(BaseModel):
    status: Literal["accepted", "failed"]
    key: str
    runId: str | None
    commandId: int
    message: str


class TaskChange(BaseModel):
    """At least one of both; `triggerHm` is HHMM, 1600 for 16:00."""

    model_config = example(extra="forbid", enabled=True, triggerHm=1600)
    enabled: StrictBool | None = None
    triggerHm: Annotated[StrictInt, AfterValidator(_time_of_day)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "TaskChange":
        if self.enabled is None and self.triggerHm is None:
            raise ValueError("enabled, triggerHm or both are needed")
        return self


class TaskChanged(BaseModel):
    key: str
    enabled: bool
    triggerHm: int | None
    nextRunAt: str | None
    message: str


class TaskRun(StoredRow):
    """One scheduled run of a task; `message` says why it was skipped, missed or failed."""

    id: int
    runId: str | None = Field(validation_alias="run_id")
    startedAt: Instant = Field(validation_alias="started_at")
    finishedAt: Instant = Field(validation_alias="finished_at")
    message: str | None = Field(validation_alias="reason")
    key: str = Field(validation_alias="task_key")
    status: RunStatus
    trigger: str
    slotAt: Instant = Field(validation_alias="slot_at")
    tradeDate: str | None = Field(validation_alias="trade_date")
    attempt: int
    durationSec: float | None = Field(validation_alias="duration_s")


class TaskRuns(BaseModel):
    runs: list[TaskRun]
    total: int
