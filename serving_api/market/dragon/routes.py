"""/market/dragon-*: open to anyone, plain."""

from typing import Annotated

from fastapi import Depends, Query

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_of_day, reach_of_days
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.row_models import picked
from serving_api.framework.state import State
from serving_api.market.dragon import queries, schemas, service
from serving_api.table_lists import Page, PageSize, paged, trade_day

router = area_router(f"{PREFIX}/market", "market: leaders")

MinScore = Annotated[float, Query(ge=0, le=100, description="least total score")]


def _first_of(state: State, days: int) -> str:
    return state.calendar.last(days, state.today)[0]


@router.get("/dragon-score", schemas.Leaders, tables=(queries.SCORES, queries.REASONS, queries.BARS))
async def dragon_score(
    call: Anyone,
    date: Annotated[str | None, Depends(trade_day)],
    limit: Annotated[int, Query(ge=1, le=200, description="leaders of the answer")] = 50,
    min_score: MinScore = 0,
) -> Answer:
    """The leaders of a trade date by rank, with the reason of their limit-up."""
    reading = call.state.reading.scan(queries.of_day, date, limit, min_score)
    day, rows, total = await read_or((date, [], 0), reading)
    shown = f"{queries.LEADER} reason price change_pct"
    items = [{**picked(row, shown), **service.scores_of(row)} for row in rows]
    history = await reach_of_day(call.state, queries.SCORES, day)
    return Answer({"date": day, "items": items, "total": total, **history})


@router.get("/dragon-score-history", schemas.LeaderHistory, tables=(queries.SCORES,))
async def dragon_score_history(
    call: Anyone,
    code: Annotated[str, Query(pattern=r"^[0-9]{6}$", description="6-digit code", examples=["600519"])],
    limit: Annotated[int, Query(ge=1, le=250, description="newest dates")] = 30,
) -> Answer:
    """The dates on which a stock was among the leaders."""
    rows = await read_or([], call.state.reading.point(queries.of_code, code, limit))
    items = [{**picked(row, queries.SCORED), **service.scores_of(row)} for row in rows]
    history = await reach(call.state, queries.SCORES, len(items), code=code)
    return Answer({"code": code, "items": items, **history})


@router.get("/dragon-review", schemas.Review, tables=(queries.SCORES,))
async def dragon_review(
    call: Anyone,
    days: Annotated[int, Query(ge=1, le=250, description="newest trade dates")] = 30,
    min_score: MinScore = 0,
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """The outcome of the leaders of the newest trade dates: in total, by grade, and one by one."""
    reading = call.state.reading.scan(queries.review, _first_of(call.state, days), min_score, page, page_size)
    groups, rows = await read_or(([], []), reading)
    items = [
        {**picked(row, queries.OUTCOME), "total_score": service.shown(row["total_score"])} for row in rows
    ]
    stats = service.statistics(groups)
    reported = {"stats": stats, "by_grade": service.by_grade(groups), "items": items, "total": stats["picks"]}
    reported |= await reach_of_days(call.state, (queries.SCORES,), days)
    return Answer(paged(reported, page, page_size))


@router.get("/dragon-review-curve", schemas.ReviewCurve, tables=(queries.SCORES, queries.INDEX))
async def dragon_review_curve(
    call: Anyone,
    days: Annotated[int, Query(ge=5, le=750, description="newest trade dates")] = 120,
) -> Answer:
    """The mean next-day change of the twenty best of each date, compounded, next to the index."""
    first = _first_of(call.state, days)
    boards, index = await read_or(([], {}), call.state.reading.scan(queries.curve, first))
    dates = call.state.calendar.between(first, call.state.today)
    after = dict(zip(dates, [*dates[1:], None], strict=True))
    reported = service.curve(boards, index, after)
    return Answer({**reported, **await reach_of_days(call.state, (queries.SCORES,), days)})
