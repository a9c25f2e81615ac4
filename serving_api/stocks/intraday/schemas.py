"""Response models of the intraday bars, for the document."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.live.admin_reads.schemas import MinuteBar


class Intraday(BaseModel):
    code: str
    period: str = Field(description="1m, 5m, 15m, 30m, 60m")
    bars: list[MinuteBar] = Field(description="oldest first")
    source: Literal["cache", "cache_stale", "live"]
