"""Lists of many areas: the rows of one table on one date, sorted, by pages: {items[row], total, date}.

`total` counts the rows of all pages. Without a requested date the newest in the table is used; the answer
has the date, and for an empty table it is {items: [], total: 0, date: None}. RAW tables keep no versions.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from starlette.requests import Request

from core.calendar import CalendarHorizon
from core.declaration.tables import Table
from core.errors import InputError
from core.report_periods import is_period, latest_ended
from serving_api.db.sessions import Session
from serving_api.framework.history_reach import Reach, reach_of_day
from serving_api.framework.parameters import calendar_day
from serving_api.framework.read_failures import read_or
from serving_api.framework.row_models import Rows
from serving_api.framework.state import State, state_of
from serving_api.interfaces.queries import Row, newest_date, on_date

Page = Annotated[int, Query(ge=1, le=1_000_000, description="page, from 1")]
PageSize = Annotated[int, Query(ge=1, le=200, description="rows of a page")]
Sort = Annotated[str, Query(description="a column of the rows; prefix - for largest first")]
T = TypeVar("T")
Condition = tuple[str, str, Any]
"""(column, operator, value): `("pledge_ratio", ">=", 10.0)`. Column and operator are constants of our
code."""

_ALL = 100_000


def count_of(session: Session, table: Table, day: str, where: Sequence[Condition] = ()) -> int:
    """Number of rows of a date that meet the conditions."""
    clauses = [f"{session.sql.name(str(table.date_column))}=?"]
    clauses += [f"{session.sql.name(column)}{sign}?" for column, sign, _ in where]
    found = session.run(
        f"SELECT COUNT(*) FROM {session.sql.name(table.name)} WHERE {' AND '.join(clauses)}",
        (day, *(value for _, _, value in where)),
    )
    return int(found[0][0])


def rows_of_day(session: Session, name: str, day: str | None) -> tuple[list[Row], str | None]:
    """Every row of a date, or of the newest, in the order of the key, and that date: for sums over a table
    of some thousand rows per date."""
    table = session.table(name)
    day = day or newest_date(session, table, None)
    if day is None:
        return [], None
    return on_date(session, table, day, sort=None, limit=_ALL, offset=0, as_of=None), day


def newest_until(session: Session, name: str, day: str) -> str | None:
    """The newest date of a table that is not after `day`: for lists that are published once a week."""
    column = session.sql.name(str(session.table(name).date_column))
    found = session.run(f"SELECT MAX({column}) FROM {session.sql.name(name)} WHERE {column}<=?", (day,))
    return str(found[0][0]) if found and found[0][0] is not None else None


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
    session: Session,
    name: str,
    day: str | None,
    *,
    where: Sequence[Condition] = (),
    sort: str | None = None,
    page: int = 1,
    page_size: int = 50,
) -> dict[str, Any]:
    """One page of the rows of `table` (by name) on a date, or on its newest.

    `where` are further conditions, `sort` a column ("-column": largest first; rows without a value come
    last, equal ones in the order of the key). Raises InputError naming `sort` for a column that the
    rows do not have.
    """
    table = session.table(name)
    order = sort_column(table, sort)
    day = day or newest_date(session, table, None)
    if day is None:
        return {"items": [], "total": 0, "date": None}
    rows = on_date(
        session,
        table,
        day,
        sort=order,
        limit=page_size,
        offset=(page - 1) * page_size,
        as_of=None,
        also=where,
    )
    return {"items": rows, "total": count_of(session, table, day, where), "date": day}


def paged(reported: Mapping[str, Any], page: int, page_size: int) -> dict[str, Any]:
    """The answer with the requested page, which every paged answer repeats."""
    return {**reported, "page": page, "page_size": page_size}


async def page_or_empty(
    state: State, table: str, day: str | None, read: Awaitable[dict[str, Any]], page: int, page_size: int
) -> dict[str, Any]:
    """The page that `read` gives, empty when the database is away, with how far back the table reaches."""
    found = await read_or({"items": [], "total": 0, "date": day}, read)
    return paged({**found, **await reach_of_day(state, table, day)}, page, page_size)


def sort_column(table: Table, sort: str | None) -> str | None:
    """`sort`, checked. Raises InputError for a column that rows cannot be sorted by."""
    if not sort:
        return None
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
