"""Response models of the sync log and the quality records."""

from typing import Any

from pydantic import BaseModel, Field


class SyncLog(BaseModel):
    id: int
    taskType: str | None = Field(
        description=(
            "`sched:<key>` for scheduled tasks, `download:<type>`, or a job that was started by request"
        )
    )
    code: str | None
    status: str | None
    total: int | None
    success: int | None
    failed: int | None
    message: str | None
    startedAt: str | None
    finishedAt: str | None


class QualityRecord(BaseModel):
    """One failed check: of one row (`row_key` set) or the summary of a check in a batch."""

    id: int
    batch_id: str | None
    table_name: str | None
    check_name: str | None
    severity: str | None = Field(description="hard, soft, or contract (an upstream's answer)")
    column_name: str | None
    row_key: dict[str, Any] | str | None
    code: str | None
    failed_value: str | None
    failed_count: int | None
    total_count: int | None
    action: str | None
    message: str | None
    created_at: str | None
