"""Lists of many areas: the rows of one table on one date, sorted, by pages: {items[row], total, date}.

`total` counts the rows of all pages. Without a requested date the newest in the table is used; the answer
has the date, and for an empty table it is {items: [], total: 0, date: None}. RAW tables keep no versions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from starlette.requests import Request

from core.calendar import CalendarHorizon
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError
from core.report_periods import is_period, latest_ended
from resources.warehouse.stored import ANY, Where
from serving_api.db.rows import Row, code_column, newest_date, on_date, public_rows
from serving_api.db.sessions import Session
from serving_api.framework.history_reach import Reach, reach_of_day
from serving_api.framework.parameters import calendar_day
from serving_api.framework.read_failures import read_or
from serving_api.framework.row_models import Rows
from serving_api.framework.state import State, state_of

Page = Annotated[int, Query(ge=1, le=1_000_000, description="page, from 1")]
PageSize = Annotated[int, Query(ge=1, le=200, description="rows of a page")]
Sort = Annotated[str, Query(description="a column of the rows; prefix - for largest first")]
T = TypeVar("T")

_ALL = 100_000


def count_of(session: Session, table: Table, day: str, *where: Where) -> int:
    """Number of rows of a date that meet the conditions."""
    return session.count(table.name, ANY[str(table.date_column)] == day, *where)


def newest_rows(session: Session, name: str, code: str, limit: int, as_of: str | None = None) -> list[Row]:
    """The newest rows of a code, newest first."""
    if not session.has(name):
        return []
    table = session.table(name)
    of, order = ANY[code_column(table)] == code, [ANY[str(table.date_column)].desc()]
    return public_rows(session, name, of, as_of=as_of, order=order, limit=limit)


def rows_of_day(
    session: Session, name: str, day: str | None, until: bool = False
) -> tuple[list[Row], str | None]:
    """Every row of a date, or of the newest, in the order of the key, and that date: for sums over a table
    of some thousand rows per date. `until` as in `listing`."""
    table = session.table(name)
    day = _day_of(session, table, day, until)
    return ([], None) if day is None else (on_date(session, table, day, limit=_ALL), day)


def _day_of(session: Session, table: Table, day: str | None, until: bool) -> str | None:
    if day is None:
        return newest_date(session, table, None)
    return (newest_until(session, table.name, day) if until else None) or day


def newest_until(session: Session, name: str, day: str) -> str | None:
    """The newest date of a table that is not after `day`."""
    column = str(session.table(name).date_column)
    return session.first(name, column, ANY[column] <= day, order=[ANY[column].desc()])


class DatedRows(Reach, Rows[T], Generic[T]):
    """Rows by date, oldest first; `reason`: why there are none."""

    latestDate: str | None
    available: bool
    reason: str | None = None


def dated_rows(rows: Sequence[Mapping[str, Any]], why: str | None) -> dict[str, Any]:
    """The keys of `DatedRows` but its reach; `why` there are no rows."""
    answer = {
        "items": rows,
        "total": len(rows),
        "latestDate": rows[-1]["date"] if rows else None,
        "available": bool(rows),
    }
    return answer if rows else {**answer, "reason": why}


def listing(
    session: Session, name: str, day: str | None, sort: str, page: int = 1, page_size: int = _ALL,
    where: Sequence[Where] = (), until: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """One page of the rows of a table on a date, or on its newest. With `until` on the newest that is not
    after the date, where there is one: for lists that are published once a week.

    `where` are further conditions. `sort` is a column ("-column": largest
    first; rows without a value come last, equal ones in the order of the key). Raises InputError naming
    `sort` for a column that the rows do not have.
    """
    table = session.table(name)
    order = sort_column(table, sort)
    day = _day_of(session, table, day, until)
    if day is None:
        return no_rows(None)
    first = (page - 1) * page_size
    rows = on_date(session, table, day, *where, sort=order, limit=page_size, offset=first)
    return {"items": rows, "total": count_of(session, table, day, *where), "date": day}


def no_rows(day: str | None) -> dict[str, Any]:
    """The answer of `listing` where nothing is stored."""
    return {"items": [], "total": 0, "date": day}


def paged(reported: Mapping[str, Any], page: int, page_size: int) -> dict[str, Any]:
    """The answer with the requested page, which every paged answer repeats."""
    return {**reported, "page": page, "page_size": page_size}


async def page_of(
    state: State, name: str, day: str | None, sort: str, page: int, page_size: int, *where: Where,
    until: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The page that `listing` gives, empty when the database is away, with how far back the table reaches."""
    read = state.reading.scan(listing, name, day, sort, page, page_size, where, until)
    found = await read_or(no_rows(day), read)
    return paged({**found, **await reach_of_day(state, name, day)}, page, page_size)


def sort_column(table: Table, sort: str) -> str:
    """`sort`, checked; '' is the order of the key. Raises InputError for a column that rows cannot be sorted
    by."""
    if not sort:
        return sort
    column = sort.removeprefix("-")
    allowed = [spec.name for spec in table.columns if spec.family != "json"]
    if column not in allowed:
        raise InputError("sort", f"{column[:40]!r} is no column of these rows; one of {', '.join(allowed)}")
    return sort


async def trade_day(
    request: Request,
    date: Annotated[
        str | None,
        Query(description="trade date, YYYY-MM-DD or YYYYMMDD; default the newest", examples=["2026-08-21"]),
    ] = None,
) -> str | None:
    """A dependency: the requested trade date, or None for the newest. Raises InputError for an invalid
    date, one in the future, or one that is no trade date (naming the nearest earlier one)."""
    return None if date is None else trade_date(state_of(request), "date", date)


async def past_day(
    request: Request,
    date: Annotated[
        str | None,
        Query(description="day, YYYY-MM-DD or YYYYMMDD; default the newest", examples=["2026-08-21"]),
    ] = None,
) -> str | None:
    """As `trade_day`, for lists that do not follow the trade dates."""
    return None if date is None else not_future(state_of(request), "date", date)


def not_future(state: State, parameter: str, given: str) -> str:
    """ISO date of a parameter. Raises InputError for an invalid date or one in the future."""
    day = calendar_day(parameter, given)
    if day > state.today:
        raise InputError(parameter, f"{day} lies in the future")
    return day


def trade_date(state: State, parameter: str, given: str) -> str:
    """As `not_future`, for trade dates only."""
    day = not_future(state, parameter, given)
    try:
        before = state.calendar.on_or_before(day)
    except CalendarHorizon:
        return day  # unknown; the table has no row then
    if before != day:
        raise InputError(parameter, f"{day} is no trade date; the nearest earlier one is {before}")
    return day


def refuse_unfinished(state: State, parameter: str, days: Sequence[str], tables: Iterable[str]) -> None:
    """InputError while the session goes on that a table tells of."""
    declared = builtin_registry().trade_days
    for table in tables:
        declared[table].refuse_unfinished(days, state.clock.now(), parameter)


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


TradeDay = Annotated[str | None, Depends(trade_day)]
PastDay = Annotated[str | None, Depends(past_day)]
Period = Annotated[str | None, Depends(report_period)]
