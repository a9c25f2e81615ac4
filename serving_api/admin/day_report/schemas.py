"""Response models of the report of a trade date."""

from typing import Literal

from pydantic import BaseModel, Field

Status = Literal["complete", "held", "fallback", "failed", "not_run"]


class ReportSource(BaseModel):
    """The outcome of one source for a table."""

    src: str | None
    rows: int | None
    calls: int | None
    error: str | None = Field(description="why it did not answer")


class ReportRow(BaseModel):
    """One table on one trade date."""

    table: str
    dataset: str
    layer: str
    status: Status = Field(
        description=(
            "fallback: complete, but from another source than the first; held: some rows are "
            "implausible and no prices are adjusted by them"
        )
    )
    reason: str | None = Field(description="why it failed, or why an earlier source was not used")
    second_source: bool = Field(description="whether more than one source is declared for it")
    sources: list[ReportSource]
    rows: int | None
    batch_id: str | None
    run_id: str | None
    run_url: str | None
    at: str | None


class ReportTotals(BaseModel):
    complete: int
    held: int
    fallback: int
    failed: int
    not_run: int


class SourceTotals(BaseModel):
    """One source over all tables: how many tables it delivered, and how many it did not."""

    answered: int
    failed: int
    reason: str | None = Field(description="its last error")
