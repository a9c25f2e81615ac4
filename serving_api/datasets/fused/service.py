"""Fused reads: which rows are returned, what is missing, what is a 404."""

from typing import Any

from pydantic import BaseModel

from core.calendar import TradeCalendar
from core.days import is_closed
from core.errors import NotFound
from serving_api.datasets.fused import queries, records, schemas
from serving_api.datasets.fused.periods import resampled
from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.stocks import queries as stock_queries

FINANCE_PERIODS = 8
DAYS_OF = {"week": 5, "month": 23, "quarter": 66, "year": 250}
"""Largest number of trade dates in a period."""
MOST_DAILY = 10_000


async def stock(state: State, code: str, as_of: str | None) -> tuple[dict[str, Any], dict[str, bool]]:
    """(record, data availability). NotFound when no fused record of the code exists."""
    nothing: dict[str, Any] = {"master": None, "profile": None, "finance": []}
    found, available = await read_or(
        (nothing, dict.fromkeys(stock_queries.AVAILABILITY, False)),
        state.reading.point(_read_stock, code, as_of),
    )
    if not any(found.values()):
        raise NotFound(f"no fused record of {code}")
    return records.stock(code, found), available


def _read_stock(session: Session, code: str, as_of: str | None) -> tuple[dict[str, Any], dict[str, bool]]:
    found = {
        "master": queries.of_code(session, queries.MASTER, code, as_of),
        "profile": queries.of_code(session, queries.PROFILE, code, as_of),
        "finance": queries.newest_of_code(session, queries.FINANCE, code, FINANCE_PERIODS, as_of),
    }
    return found, stock_queries.availability(session, code, as_of)


async def newest(
    state: State, model: type[BaseModel], table: str, code: str, count: int, as_of: str | None
) -> list[dict[str, Any]]:
    """The newest rows of a code, newest first; none while the database is unavailable."""
    rows = await read_or([], state.reading.point(queries.newest_of_code, table, code, count, as_of))
    return [records.shaped(model, row) for row in rows]


async def period_bars(
    state: State, code: str, period: str, periods: int, adjust: str, as_of: str | None, moment: str
) -> list[dict[str, Any]]:
    """The newest bars, oldest first, closed or not at `moment`. `none` returns the stored rows;
    adjusted ones are made of adjusted daily bars, as far back as those reach."""
    if adjust != "none":
        read = state.reading.scan(_read_resampled, code, period, periods, adjust, as_of, state.calendar)
        bars = await read_or([], read)
    else:
        stored = state.reading.point(queries.period_bars, code, period, periods, as_of)
        bars = (await read_or([], stored))[::-1]
    return [
        records.only(schemas.PeriodBar, {**bar, "is_closed": is_closed(bar["date"], moment)}) for bar in bars
    ]


def _read_resampled(
    session: Session,
    code: str,
    period: str,
    periods: int,
    adjust: str,
    as_of: str | None,
    calendar: TradeCalendar,
) -> list[dict[str, Any]]:
    # One more period than requested: the oldest one may be incomplete.
    days = min(MOST_DAILY, (periods + 1) * DAYS_OF[period])
    bars = stock_queries.bars(session, code, days, as_of, adjust)
    made = resampled(bars, queries.daily_qualities(session, code, as_of), period, adjust, calendar)
    whole = made[1:] if len(bars) == days else made
    return whole[-periods:]
