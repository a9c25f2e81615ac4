"""/earnings-window/overview: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Depends, Query
from starlette.requests import Request

from core.errors import InputError
from core.report_periods import is_period, latest_ended, next_period, phase_of
from serving_api.earnings import queries, schemas
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import calendar_day
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import state_of

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


@router.get("/overview", schemas.Window, tables=queries.TABLES)
async def overview(
    call: Anyone,
    period: Annotated[str, Depends(_period)],
    days: Annotated[int, Query(ge=1, le=365, description="days ahead that planned reports are shown")] = 30,
) -> Answer:
    """Reports of one quarter end: how many are published, which come next, what is forecast."""
    today = call.state.clock.now().date().isoformat()
    reported = await read_or(_NOTHING, call.state.reading.scan(queries.window, period, today, days))
    return Answer({"period": period, "phase": phase_of(period, today), **reported})
