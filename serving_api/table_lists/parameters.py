"""Parameters that several topics share."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from core.errors import InputError
from core.report_periods import is_period, latest_ended
from serving_api.framework.state import state_of
from serving_api.table_lists.listing import not_future


async def report_period(
    request: Request,
    period: Annotated[
        str | None, Query(description="quarter end, default the newest stored", examples=["2026-06-30"])
    ] = None,
) -> str | None:
    """A dependency: the requested quarter end, or None. Raises InputError for anything else."""
    if period is None:
        return None
    day = not_future(state_of(request), "period", period)
    if not is_period(day):
        raise InputError("period", f"{day} is no quarter end; the nearest earlier one is {latest_ended(day)}")
    return day
