"""Parameters that topics share."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from platform_assets.compute.report_periods import is_period, latest_ended
from resources.errors import InputError
from serving_api.state import state_of
from serving_api.topics.listing import not_future


async def report_period(
    request: Request,
    period: Annotated[
        str | None, Query(description="quarter end, default the newest stored", examples=["2026-06-30"])
    ] = None,
) -> str | None:
    """A dependency: the quarter end asked for, or None. Raises InputError for anything else."""
    if period is None:
        return None
    day = not_future(state_of(request), "period", period)
    if not is_period(day):
        raise InputError("period", f"{day} is no quarter end; the nearest earlier one is {latest_ended(day)}")
    return day
