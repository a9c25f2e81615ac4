"""Request and response models of the downloads, for the document."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from serving_api.framework.openapi import example

Code = Annotated[str, StringConstraints(pattern=r"^[0-9]{6}$")]
Status = Literal["success", "failed"]


class BatchRequest(BaseModel):
    model_config = example(extra="forbid", codes=["600519", "000001"], taskTypes=["quote", "fund_flow"])
    codes: list[Code] = Field(min_length=1, max_length=500)
    taskTypes: list[Annotated[str, StringConstraints(min_length=1, max_length=64)]] = Field(
        min_length=1, max_length=64, description="download types, or `all`"
    )


class FusedPart(BaseModel):
    status: Status
    saved: int
    message: str | None = None


class Fusion(BaseModel):
    status: Status
    batch_id: str | None
    results: dict[str, FusedPart]


class Downloaded(BaseModel):
    """`details` of one code: type -> result; of a batch: code -> type -> result."""

    status: Status
    total: int
    saved: int
    gap_count: int
    details: dict[str, Any]
    fusion: Fusion | None
    fox_fusion: Fusion | None = Field(description="the same as fusion")
    message: str | None = None


class UnknownType(BaseModel):
    error: str


class MarketRequest(BaseModel):
    """No body, or no trade_date: the newest complete trade date."""

    model_config = example(extra="forbid", date="2026-08-20")
    date: str | None = Field(default=None, max_length=10, description="trade date, YYYY-MM-DD or YYYYMMDD")


class MarketDownloaded(BaseModel):
    status: Status
    total: int = Field(description="rows of the date in the table")
    saved: int
    gap_count: int
    latestDate: str | None
    channels: list[str] = Field(description="for the stock connect; else []")
    message: str
    fusion: dict[str, FusedPart] | None = None
