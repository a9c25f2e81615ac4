"""Response models of the leader score, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import PageOf, Rows, columns_of
from serving_api.market.dragon.queries import LEADER, OUTCOME, SCORED, SCORES


class Scores(BaseModel):
    """Points, 0..20 each; null when a dimension has no data."""

    height: float | None
    seal: float | None
    theme: float | None
    capital: float | None
    structure: float | None


@columns_of(SCORES, LEADER)
class Leader(BaseModel):
    scores: Scores
    reason: str | None = Field(description="why it was at the limit, as the topic portal writes it")
    price: float | None = Field(description="close of the date, CNY")
    change_pct: float | None


class Leaders(Reach, Rows[Leader]):
    """By rank."""

    date: str | None
    total: int = Field(description="leaders of the date with the requested score, without the limit")


@columns_of(SCORES, SCORED)
class ScoredDay(BaseModel):
    scores: Scores


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


@columns_of(SCORES, OUTCOME)
class ReviewedLeader(BaseModel):
    """`status`: pending, partial, reviewed."""


class Review(Reach, PageOf[ReviewedLeader]):
    """Newest first. The statistics are of all pages."""

    stats: ReviewStatistics
    by_grade: list[GradeStatistics]


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
