"""Response models of the statistics, for the document."""

from typing import Literal

from pydantic import BaseModel, Field


class TableCount(BaseModel):
    """One monitored table."""

    count: int
    latestUpdate: str | None = Field(description="time of the newest change")
    error: str | None = None


class DimensionFreshness(BaseModel):
    latestDate: str | None = Field(description="newest stored date that is not after today")
    cutoff: str | None = Field(description="stale when latestDate is before it")
    isStale: bool
    kind: Literal["trading", "calendar", "period"]
    maxLag: int = Field(description="trade dates (trading), days (calendar, period)")
    error: str | None = None


class FreshnessReport(BaseModel):
    isFresh: bool
    staleDimensions: list[str]
    details: dict[str, DimensionFreshness]


class CodeCount(BaseModel):
    count: int
    latestDate: str | None
    error: str | None = None


class F10Count(CodeCount):
    sections: dict[str, CodeCount]


class CodeStats(BaseModel):
    """`dataStatus` has one entry per table, and `f10` for the portal tables together."""

    code: str
    dataStatus: dict[str, F10Count | CodeCount]
