"""/industry/*: open to anyone, plain."""

from typing import Annotated, Literal

from fastapi import Depends, Query
from starlette.requests import Request

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_of_day
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.industry import queries, schemas
from serving_api.table_lists.listing import past_day

router = area_router(f"{PREFIX}/industry", "industry")

Standard = Annotated[
    Literal["csrc", "cni", "sw"], Query(description="classification: of the regulator, of CNI, of SW")
]


@router.get("/valuation")
@serving(schemas.IndustryRatios, tables=(queries.RATIOS,))
async def valuation(
    request: Request,
    subject: Anyone,
    date: Annotated[str | None, Depends(past_day)],
    standard: Standard = "csrc",
    level: Annotated[
        Literal["1", "2", "3", "l1", "l2", "l3"] | None,
        Query(description="1, 2 of csrc and cni; l1..l3 of sw"),
    ] = None,
) -> Answer:
    """PE and PB of the industries of one classification on a date, or on its newest."""
    reading = state_of(request).reading
    items, day = await read_or(([], date), reading.scan(queries.ratios, standard, level, date))
    history = await reach_of_day(state_of(request), queries.RATIOS, date, of={"standard": standard})
    return Answer({"standard": standard, "date": day, "items": items, "total": len(items), **history})


@router.get("/valuation/detail")
@serving(schemas.IndustryDetail, tables=(queries.RATIOS, queries.CLASSES, queries.VALUATION))
async def detail(
    request: Request,
    subject: Anyone,
    industry_code: Annotated[
        str, Query(min_length=1, max_length=16, description="code in its classification")
    ],
    standard: Standard = "csrc",
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates")] = 250,
) -> Answer:
    """One industry by date, and its stocks with their newest ratios."""
    reading = state_of(request).reading
    rows, members = await read_or(([], []), reading.scan(queries.detail, standard, industry_code, days))
    own = {"standard": standard, "industry_code": industry_code}
    answer = {
        "industry_code": industry_code,
        "industry_name": rows[-1]["industry_name"] if rows else None,
        "items": [{name: row[name] for name in queries.SERIES} for row in rows],
        "members": members,
        **await reach(state_of(request), queries.RATIOS, len(rows), asked=days, of=own),
    }
    return Answer(answer)
