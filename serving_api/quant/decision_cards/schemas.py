"""Response models of the decision cards."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import columns_of


@columns_of(
    "decision_card",
    "source! code! name industry decision_date! total_score conclusion gate_blocked gate_reason reviewed_at",
)
class Card(BaseModel):
    trace_id: str = Field(description="source_code_date")
    direction: str = Field(description="bullish, bearish or neutral")
    scores_json: Any = None
    price_at_decision: float | None = Field(description="CNY, unadjusted")
    price_date: str | None = Field(None, description="the day whose close the price is")
    review_outcome: str | None = Field(description="hit, miss or neutral; null until it is judged")
    review_profit_pct: float | None = Field(description="percent, change of the price")
    review_actual_trend: str | None = Field(description="上涨, 下跌 or 震荡 (within 1 %)")


class Cards(BaseModel):
    items: list[Card]
    total: int
    page: int
    page_size: int


class Counts(BaseModel):
    total: int
    reviewed: int
    hit: int
    miss: int
    neutral: int
    win_rate_pct: float | None = Field(description="hits as a share of hits and misses")


class SourceCounts(Counts):
    source: str


class CardStats(Counts, Reach):
    by_source: list[SourceCounts]


class Reviewed(BaseModel):
    reviewed: int
    skipped: int = Field(description="due and checked, but without the bars needed for a verdict")
    cutoff: str = Field(description="newest decision date that was checked")
