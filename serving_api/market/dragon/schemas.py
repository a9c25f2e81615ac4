"""Response models of the leader score, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class Scores(BaseModel):
    """Points, 0..20 each; null when a dimension has no data."""

    height: float | None
    seal: float | None
    theme: float | None
    capital: float | None
    structure: float | None


class Leader(BaseModel):
    rank: int
    code: str
    name: str | None
    total_score: float | None = Field(description="0..100")
    scores: Scores
    coverage: float = Field(description="share of the points that could be judged")
    grade: str | None = Field(description="S, A, B, C, D")
    limit_days: int | None = Field(description="streak on the date; 0: no longer at the limit")
    theme: str | None
    reason: str | None = Field(description="why it was at the limit, as the topic portal writes it")
    price: float | None = Field(description="close of the date, CNY")
    change_pct: float | None


class Leaders(Reach):
    """By rank."""

    date: str | None
    items: list[Leader]
    total: int = Field(description="leaders of the date with the requested score, without the limit")


class ScoredDay(BaseModel):
    date: str
    total_score: float | None
    scores: Scores
    rank: int
    limit_days: int | None
    next_change_pct: float | None = Field(description="change on the trade date after")


class LeaderHistory(Reach):
    """Oldest first."""

    code: str
    items: list[ScoredDay]


class ReviewStatistics(BaseModel):
    """Percent. A leader is reviewed five trade dates later; it won when its price was higher then, and did
    not when it never traded again. Means are of the known changes."""

    picks: int
    reviewed: int
    win_rate_pct: float | None
    avg_next_pct: float | None
    avg_d3_pct: float | None
    avg_d5_pct: float | None


class GradeStatistics(BaseModel):
    grade: str
    picks: int
    win_rate_pct: float | None
    avg_d5_pct: float | None


class ReviewedLeader(BaseModel):
    date: str
    code: str
    name: str | None
    rank: int
    grade: str | None
    total_score: float | None
    next_change_pct: float | None
    d3_change_pct: float | None
    d5_change_pct: float | None
    status: str = Field(description="pending, partial, reviewed")


class Review(Reach):
    """Newest first. The statistics are of all pages."""

    stats: ReviewStatistics
    by_grade: list[GradeStatistics]
    items: list[ReviewedLeader]
    total: int = Field(description="leaders of all pages")
    page: int
    page_size: int


class CurveDay(BaseModel):
    date: str
    picks: int
    avg_next_pct: float | None
    cum_pct: float
    index_cum_pct: float | None = Field(
        description="the index over the same dates; null from the first date on for which it is not known"
    )


class ReviewCurve(Reach):
    """From close to close, without costs, and regardless of whether a sealed limit could be bought."""

    items: list[CurveDay]
    max_drawdown_pct: float | None = Field(description="largest fall of the curve from a high, percent")
