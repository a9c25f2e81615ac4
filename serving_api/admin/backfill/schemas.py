"""Request and response models of backfills."""

from typing import Literal

from pydantic import BaseModel, Field

BackfillStatus = Literal["queued", "running", "success", "partial", "failed", "canceling", "canceled"]
StoredStanding = Literal["queued", "running", "success", "partial", "failed", "canceled"]


class Started(BaseModel):
    status: Literal["accepted"]
    id: str
    command_id: int
    partitions: int
    message: str


class Resumed(BaseModel):
    status: Literal["accepted"]
    id: str
    command_id: int
    remaining: int


class Canceling(BaseModel):
    """`canceled` at once when nothing has begun; else the running part ends at its next safe point."""

    id: str
    status: Literal["canceling", "canceled"]


class Progress(BaseModel):
    total: int
    done: int


class BackfillItem(BaseModel):
    id: str
    dataset: str
    since: str = Field(alias="from")
    until: str = Field(alias="to")
    status: BackfillStatus
    partitions: Progress
    started_at: str | None


class DetailedProgress(Progress):
    failed: int


class FailedDate(BaseModel):
    partition: str
    error: str


class BackfillDetail(BackfillItem):
    partitions: DetailedProgress
    rows_written: int = Field(description="rows of the main table that are new or changed")
    run_ids: list[str]
    failures: list[FailedDate]
    requested_by: str | None
    finished_at: str | None
