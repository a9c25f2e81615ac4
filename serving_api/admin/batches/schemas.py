"""Response models of batches."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.admin.records.schemas import QualityRecord


class BatchInput(BaseModel):
    """What a batch read: a table, the batches that had written those rows (at most 50), the number of
    rows."""

    table: str | None
    batch_ids: list[str]
    rows: int | None
    max_date: str | None


class BatchSource(BaseModel):
    """The outcome of one upstream for a batch."""

    src: str | None
    rows: int | None
    calls: int | None
    fallback_reason: str | None = Field(description="why an earlier source was not used")
    error: str | None


class Batch(BaseModel):
    """One transactional write of one table and partition. rows_ok + rows_warning + rows_rejected = rows_in;
    rows_written + rows_unchanged = rows_ok + rows_warning."""

    batch_id: str
    table_name: str | None
    fusion_type: str | None
    domain: str | None
    trigger_type: str | None
    status: str | None
    run_id: str | None
    run_url: str | None = Field(description="the run in the Dagster UI")
    command_id: int | None
    parent_batch_id: str | None
    partition_key: str | None
    rows_in: int | None
    rows_ok: int | None
    rows_warning: int | None
    rows_rejected: int | None
    rows_unchanged: int | None
    rows_written: int | None
    rows_superseded: int | None
    started_at: str | None
    finished_at: str | None
    inputs: list[BatchInput]
    sources: list[BatchSource]
    checks: dict[str, Any]
    content_hash: str | None
    error: str | None


class Output(BaseModel):
    """Rows that a batch, or one of its children, wrote to a table."""

    batch_id: str
    table: str | None
    partition_key: str | None
    rows_written: int | None
    rows_superseded: int | None
    content_hash: str | None


class BatchDetail(Batch):
    outputs: list[Output]
    quality: list[QualityRecord]
    children: list[str]
