"""/quant/pattern-*: open to anyone, plain."""

from enum import IntEnum
from typing import Annotated

from fastapi import Query

from platform_assets.compute.pattern_performance import summary
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach_of_days
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.quant.pattern_records import queries, schemas, service

router = area_router(f"{PREFIX}/quant", "quant")


class ForwardDays(IntEnum):
    """Market dates that a signal is held (`pattern_performance.HORIZONS`)."""

    ONE = 1
    THREE = 3
    FIVE = 5
    TEN = 10


class Sign(IntEnum):
    UP = 100
    DOWN = -100


@router.get(
    "/pattern-performance", schemas.Performance, tables=(queries.PATTERNS, queries.BARS, queries.INDICES)
)
async def pattern_performance(
    call: Anyone,
    pattern: Annotated[str, Query(description="one of the 16 directions", examples=["double_bottom"])],
    forward_days: Annotated[
        ForwardDays, Query(description="market dates that a signal is held")
    ] = ForwardDays.FIVE,
    days: Annotated[int, Query(ge=20, le=2500, description="newest trade dates")] = 250,
    direction: Annotated[
        Sign | None, Query(description="100 or -100; default 100, of a pattern that only points down -100")
    ] = None,
) -> Answer:
    """The returns after the signals of a pattern. A metric column has no signals: 422."""
    column = service.direction_column(pattern)
    sign = int(direction or service.default_direction(column))
    reported = await read_or(
        summary([], sign), service.performance(call.state, column, sign, int(forward_days), days)
    )
    reached = await reach_of_days(call.state, (queries.PATTERNS,), days)
    return Answer(
        {"pattern": column, "direction": sign, "forward_days": int(forward_days), **reported, **reached}
    )


@router.get("/pattern-catalog", schemas.PatternCatalogue)
async def pattern_catalog(call: Anyone) -> Answer:
    """The meaning, formula and thresholds of each of the 16 directions and 9 metrics."""
    return Answer(service.catalogue())
