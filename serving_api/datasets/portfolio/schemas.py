"""Response models of the watch list."""

from typing import Literal

from pydantic import BaseModel, Field


class PortfolioStock(BaseModel):
    """One security of the list, with its newest stored quote."""

    code: str
    name: str | None
    group: str
    shares: float | None
    costPrice: float | None = Field(
        description="CNY per share; negative when realised gains exceed the purchase price"
    )
    buyDate: str | None
    stopLossPrice: float | None = Field(description="CNY")
    targetPrice: float | None = Field(description="CNY")
    note: str | None
    price: float | None = Field(description="CNY, newest stored quote")
    changePct: float | None = Field(description="percent, of the quote's day")
    profitPct: float | None = Field(description="percent of the cost; null without a positive cost")


class Portfolio(BaseModel):
    stocks: list[PortfolioStock]
    total: int
    updatedAt: str | None = Field(description="newest change of the list")


class SkippedRow(BaseModel):
    row: int = Field(description="counted from 1, as in the sheet")
    reason: str


class Imported(BaseModel):
    """total = saved + skipped; blank rows are not counted."""

    status: Literal["success", "failed"]
    saved: int
    skipped: int
    total: int
    message: str
    errors: list[SkippedRow] = Field(description="the first 200 skipped rows")
