"""/market/lhb-branch-stat: anyone."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach_of_days
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.market.billboard import queries, schemas

router = area_router(f"{PREFIX}/market", "market: billboard")


@router.get("/lhb-branch-stat")
@serving(schemas.BranchStat, tables=(queries.SEATS, queries.LISTINGS))
async def branch_stat(
    request: Request,
    subject: Anyone,
    days: Annotated[int, Query(ge=5, le=250, description="trade dates")] = 30,
    branch: Annotated[str, Query(max_length=64, description="text in the name of the branch")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="branches of the answer")] = 50,
) -> Answer:
    """Amounts bought and sold by branches on the billboard, largest sums first."""
    state = state_of(request)
    dates = state.calendar.last(days, state.clock.now().date().isoformat())
    items, total = await read_or(
        ([], 0), state.reading.scan(queries.branches, dates[0], branch.strip() or None, limit)
    )
    history = await reach_of_days(state, (queries.SEATS,), days)
    window = {"from": dates[0], "to": dates[-1]}
    return Answer({"items": items, "total": total, "window": window, **history})
