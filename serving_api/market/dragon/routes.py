"""/market/dragon-*: open to anyone, plain."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.dragon_score import DragonScore
from platform_assets.datasets.scorecard_daily import ScorecardDaily
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach, reach_of_day, reach_of_days
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import CodeQuery
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import PageOf, Rows, with_columns
from serving_api.market.dragon import queries, service
from serving_api.market.dragon.queries import OUTCOME, SCORES
from serving_api.table_lists import Page, PageSize, TradeDay, newest_rows, paged


class Scores(BaseModel):
    """Points, 0..20 each; null when a dimension has no data."""

    height: float | None
    seal: float | None
    theme: float | None
    capital: float | None
    structure: float | None


@with_columns(
    DragonScore.rank_no.label("rank").not_null(), DragonScore.code, DragonScore.name, DragonScore.total_score,
    DragonScore.coverage.not_null(), DragonScore.grade, DragonScore.limit_days, DragonScore.theme,
)  # fmt: skip
class Leader(BaseModel):
    scores: Scores
    reason: str | None = Field(description="why it was at the limit, as the topic portal writes it")
    price: float | None = Field(description="close of the date, CNY")
    change_pct: float | None


class Leaders(Reach, Rows[Leader]):
    """By rank."""

    date: IsoDate | None
    total: int = Field(description="leaders of the date with the requested score, without the limit")


@with_columns(
    DragonScore.trade_date.label("date"), DragonScore.total_score,
    DragonScore.rank_no.label("rank").not_null(), DragonScore.limit_days, DragonScore.next_change_pct,
)  # fmt: skip
class ScoredDay(BaseModel):
    scores: Scores


class LeaderHistory(Reach):
    """Oldest first."""

    code: str
    items: list[ScoredDay]


@with_columns(ScorecardDaily.picks, ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct)
class ReviewStatistics(BaseModel):
    """Percent. A leader is reviewed five trade dates later; it won when its price was higher then, and did
    not when it never traded again. Means are of the known changes."""

    avg_next_pct: float | None
    avg_d3_pct: float | None
    avg_d5_pct: float | None


class GradeStatistics(BaseModel):
    grade: str
    picks: int
    win_rate_pct: float | None
    avg_d5_pct: float | None


@with_columns(*OUTCOME)
class ReviewedLeader(BaseModel):
    """`status`: pending, partial, reviewed."""


class Review(Reach, PageOf[ReviewedLeader]):
    """Newest first. The statistics are of all pages."""

    stats: ReviewStatistics
    by_grade: list[GradeStatistics]


class CurveDay(BaseModel):
    date: IsoDate
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


router = area_router(f"{PREFIX}/market", "market: leaders")

MinScore = Annotated[float, Query(ge=0, le=100, description="least total score")]


@router.get("/dragon-score", response_model=Leaders)
@serves(tables=(queries.SCORES, queries.REASONS, queries.BARS))
async def dragon_score(
    call: Anyone,
    date: TradeDay,
    limit: Annotated[int, Query(ge=1, le=200, description="leaders of the answer")] = 50,
    min_score: MinScore = 0,
) -> Answer:
    """The leaders of a trade date by rank, with the reason of their limit-up."""
    reading = call.state.reading.scan(queries.of_day, date, limit, min_score)
    day, rows, total = await read_or((date, [], 0), reading)
    items = [Leader.model_validate({**row, **service.scores_of(row)}) for row in rows]
    history = await reach_of_day(call.state, queries.SCORES, day)
    return Answer({"date": day, "items": items, "total": total, **history})


@router.get("/dragon-score-history", response_model=LeaderHistory)
@serves(tables=(queries.SCORES,))
async def dragon_score_history(
    call: Anyone,
    code: CodeQuery,
    limit: Annotated[int, Query(ge=1, le=250, description="newest dates")] = 30,
) -> Answer:
    """The dates on which a stock was among the leaders."""
    rows = await read_or([], call.state.reading.point(newest_rows, SCORES, code, limit))
    items = [ScoredDay.model_validate({**row, **service.scores_of(row)}) for row in reversed(rows)]
    history = await reach(call.state, queries.SCORES, len(items), code=code)
    return Answer({"code": code, "items": items, **history})


@router.get("/dragon-review", response_model=Review)
@serves(tables=(queries.SCORES,))
async def dragon_review(
    call: Anyone,
    days: Annotated[int, Query(ge=1, le=250, description="newest trade dates")] = 30,
    min_score: MinScore = 0,
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """The outcome of the leaders of the newest trade dates: in total, by grade, and one by one."""
    reading = call.state.reading.scan(queries.review, call.state.since(days), min_score, page, page_size)
    groups, rows = await read_or(([], []), reading)
    items = [
        ReviewedLeader.model_validate({**row, "total_score": service.shown(row["total_score"])})
        for row in rows
    ]
    stats = service.statistics(groups)
    reported = {"stats": stats, "by_grade": service.by_grade(groups), "items": items, "total": stats["picks"]}
    reported |= await reach_of_days(call.state, (queries.SCORES,), days)
    return Answer(paged(reported, page, page_size))


@router.get("/dragon-review-curve", response_model=ReviewCurve)
@serves(tables=(queries.SCORES, queries.INDEX))
async def dragon_review_curve(
    call: Anyone, days: Annotated[int, Query(ge=5, le=750, description="newest trade dates")] = 120
) -> Answer:
    """The mean next-day change of the twenty best of each date, compounded, next to the index."""
    first = call.state.since(days)
    boards, index = await read_or(([], {}), call.state.reading.scan(queries.curve, first))
    dates = call.state.calendar.between(first, call.state.today)
    after = dict(zip(dates, [*dates[1:], None], strict=True))
    reported = service.curve(boards, index, after)
    return Answer({**reported, **await reach_of_days(call.state, (queries.SCORES,), days)})
