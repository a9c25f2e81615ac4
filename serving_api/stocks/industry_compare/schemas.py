"""Response models of the comparison with peers."""

from pydantic import BaseModel, Field


class Peer(BaseModel):
    code: str
    name: str | None
    isSelf: bool
    price: float | None
    changePercent: float | None
    peTtm: float | None
    pb: float | None
    marketCap: float | None = Field(description="CNY")
    roe: float | None
    revenueYoy: float | None
    profitYoy: float | None
    rank: int = Field(description="by market cap, from 1 on")
