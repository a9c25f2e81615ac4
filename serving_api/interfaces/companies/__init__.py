"""Interfaces over what one company tells by report period and by year, and its stored minute bars."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces import queries as rows_of
from serving_api.interfaces.call import Executor, Question, filters_of, must_be_period
from serving_api.interfaces.companies import queries
from serving_api.interfaces.parameters import MOST_ROWS

_MINUTES = (5, 15, 30, 60)


def minute_bars(session: Session, asked: Question) -> Any:
    """Stored minute bars of the newest trade dates that have any, oldest first."""
    minutes = asked.params["period"]
    if minutes not in _MINUTES:
        raise asked.bad("period", f"{minutes} is none of {', '.join(map(str, _MINUTES))} minutes")
    equal = {"period": f"{minutes}m"}
    newest = rows_of.in_range(session, asked.table, asked.code, limit=1, as_of=None, equal=equal)
    if not newest:
        return []
    since = asked.calendar.last(asked.params["days"], str(newest[0]["datetime"])[:10])[0]
    rows = rows_of.in_range(
        session, asked.table, asked.code, since=since, limit=MOST_ROWS, as_of=None, equal=equal
    )
    return rows[::-1]


def newest_periods(session: Session, asked: Question) -> Any:
    """Rows of one code in its newest report periods, newest period first; those alone that hold the values
    asked for."""
    periods, order = asked.params["periods"], asked.interface.order
    return queries.newest_periods(session, asked.table, asked.code, periods, filters_of(asked), order)


def of_period(session: Session, asked: Question) -> Any:
    """Rows of one code in one report period (default: its newest)."""
    period = asked.params["report_period"]
    if period is not None:
        must_be_period(asked, period)
    rows = queries.newest_periods(
        session, asked.table, asked.code, 1, filters_of(asked), asked.interface.order, period
    )
    return rows[: asked.params.get("limit", MOST_ROWS)]


def by_year(session: Session, asked: Question) -> Any:
    """What is expected of one code by year, from the page of the company where it was read."""
    return queries.by_year(session, asked.table, asked.code)


EXECUTORS: Mapping[str, Executor] = {
    "minute_bars": minute_bars,
    "newest_periods": newest_periods,
    "of_period": of_period,
    "by_year": by_year,
}
