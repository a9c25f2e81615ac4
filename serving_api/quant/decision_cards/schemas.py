"""Response models of the decision cards."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class Card(BaseModel):
    trace_id: str = Field(description="source_code_date")
    source: str
    code: str
    name: str | None
    industry: str | None
    decision_date: str
    direction: str = Field(description="bullish, bearish or neutral")
    total_score: float | None
    scores_json: Any = None
    price_at_decision: float | None = Field(description="CNY, unadjusted")
    price_date: str | None = Field(None, description="the day whose close the price is")
    conclusion: str | None
    gate_blocked: bool | None
    gate_reason: str | None
    review_outcome: str | None = Field(description="hit, miss or neutral; null until it is judged")
    review_profit_pct: float | None = Field(description="percent, change of the price")
    review_actual_trend: str | None = Field(description="上涨, 下跌 or 震荡 (within 1 %)")
    reviewed_at: str | None


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
