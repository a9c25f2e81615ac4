"""/decision-cards: read by anyone, reviewed by admins; plain."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.compute.parameters.scorecards import CARDS_AT_ONCE
from platform_assets.research.factors import ITEMS
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach_of_days
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.parameters import Code
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.quant.decision_cards import queries, service
from serving_api.table_lists import Page, PageSize, paged


class Card(BaseModel):
    source: str
    code: str
    name: str | None
    industry: str | None
    decision_date: IsoDate
    total_score: float | None
    conclusion: str | None
    gate_blocked: bool | None
    gate_reason: str | None
    reviewed_at: str | None
    trace_id: str = Field(description="source_code_date")
    direction: str = Field(description="bullish, bearish or neutral")
    scores_json: Any = None
    price_at_decision: float | None = Field(description="CNY, unadjusted")
    price_date: IsoDate | None = Field(None, description="the day whose close the price is")
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


router = area_router(f"{PREFIX}/decision-cards", "decision cards")


class ReviewBody(BaseModel):
    model_config = example(limit=CARDS_AT_ONCE)

    limit: int = Field(CARDS_AT_ONCE, ge=1, le=CARDS_AT_ONCE, description="cards at most")


@router.get("", response_model=Cards)
@serves(tables=(queries.TABLE, ITEMS))
async def cards(
    call: Anyone,
    code: Annotated[Code | None, Query(description="6-digit code")] = None,
    source: Annotated[str | None, Query(max_length=32, description="who decided")] = None,
    reviewed: Annotated[bool | None, Query(description="only judged ones, or only open ones")] = None,
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """Decision cards, newest first."""
    offset = (page - 1) * page_size
    read = call.state.reading.scan(queries.page, code, source, reviewed, page_size, offset)
    items, total = await read_or(([], 0), read)
    for one in items:
        call.state.reading.ledger.note_stored(one["code"], str(one["decision_date"]))
    return Answer(paged({"items": items, "total": total}, page, page_size))


@router.get("/stats", response_model=CardStats)
@serves(tables=(queries.TABLE,))
async def stats(
    call: Anyone, days: Annotated[int, Query(ge=1, le=750, description="newest trade dates")] = 180
) -> Answer:
    """How often the cards were right."""
    state = call.state
    counted = await read_or(service.no_stats(), state.reading.scan(service.stats, state.since(days)))
    return Answer({**counted, **await reach_of_days(state, (queries.TABLE,), days)})


@router.post("/review", response_model=Reviewed)
async def review(call: Admin, body: ReviewBody | None = None) -> Answer:
    """Judge the cards whose ten trade dates have passed, oldest first."""
    limit = CARDS_AT_ONCE if body is None else body.limit
    return Answer(await service.review(call.state, limit))
