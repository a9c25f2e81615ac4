"""/earnings-window/overview: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.requests import Request

from platform_assets.compute.report_periods import is_period, latest_ended, next_period, phase_of
from resources.errors import InputError
from serving_api.answers import Answer
from serving_api.envelope import PREFIX
from serving_api.failures import read_or
from serving_api.parameters import calendar_day
from serving_api.permissions import Anyone
from serving_api.routing import area_router, serving
from serving_api.state import state_of
from serving_api.topics.earnings import queries, schemas

router = area_router(f"{PREFIX}/earnings-window", "earnings window")

_NOTHING: dict[str, Any] = {
    "counts": {"scheduled": 0, "disclosed": 0, "forecast": 0, "express": 0},
    "upcoming": [],
    "forecasts": {"up": 0, "down": 0, "turn": 0, "first_loss": 0},
    "top": [],
    "latestDate": None,
}


async def _period(
    request: Request,
    period: Annotated[
        str | None,
        Query(description="quarter end, at most the next one; default the last one", examples=["2026-06-30"]),
    ] = None,
) -> str:
    newest = latest_ended(state_of(request).clock.now().date().isoformat())
    if period is None:
        return newest
    day = calendar_day("period", period)
    if not is_period(day):
        raise InputError("period", f"{day} is no quarter end; the last one is {newest}")
    if day > next_period(newest):
        raise InputError("period", f"{day} lies too far ahead; the next one is {next_period(newest)}")
    return day


@router.get("/overview")
@serving(schemas.Window, tables=queries.TABLES)
async def overview(
    request: Request,
    subject: Anyone,
    period: Annotated[str, Depends(_period)],
    days: Annotated[int, Query(ge=1, le=365, description="days ahead that planned reports are shown")] = 30,
) -> Answer:
    """Reports of one quarter end: how many are out, who comes next, what is expected."""
    state = state_of(request)
    today = state.clock.now().date().isoformat()
    told = await read_or(_NOTHING, state.reading.scan(queries.window, period, today, days))
    return Answer({"period": period, "phase": phase_of(period, today), **told})
