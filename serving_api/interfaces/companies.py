"""Interfaces over reports of one company by report period and by year, and its stored minute bars."""

from typing import Any

from resources.warehouse.stored import ANY, Order, select
from serving_api.db import rows as rows_of
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall, filters_of, must_be_period
from serving_api.interfaces.parameters import MOST_ROWS


def _of_periods(session: Session, call: InterfaceCall, periods: int, period: str | None = None) -> list[Row]:
    """Rows of the newest report periods of a code (or of one `period`) with the requested values: the newest
    period first, within a period by the interface's column ("-column": largest first) and the key."""
    table, sort = call.table, call.interface.order
    of = [ANY.code == call.code, *filters_of(call)]
    if period is None:
        newest = select(table.name, ANY.report_period).distinct().where(*of)
        found = session.run(newest.order_by(ANY.report_period.desc()).limit(periods))
        if not found:
            return []
        of.append(ANY.report_period >= str(found[-1][0]))
    else:
        of.append(ANY.report_period == period)
    order: list[Order] = [ANY.report_period.desc()]
    if sort:
        column = ANY[sort.lstrip("-")]
        order += [column.is_(None), column.desc() if sort.startswith("-") else column]
    order += [ANY[column] for column in table.key if column not in ("code", "report_period")]
    return public_rows(session, table.name, *of, order=order)


_MINUTES = (5, 15, 30, 60)


def minute_bars(session: Session, call: InterfaceCall) -> Any:
    """Stored minute bars of the newest trade dates that have any, oldest first."""
    minutes = call.params["period"]
    if minutes not in _MINUTES:
        raise call.bad("period", f"{minutes} is none of {', '.join(map(str, _MINUTES))} minutes")
    equal = ANY.period == f"{minutes}m"
    newest = rows_of.in_range(session, call.table, call.code, equal, limit=1, as_of=None)
    if not newest:
        return []
    since = call.calendar.last(call.params["days"], str(newest[0]["datetime"])[:10])[0]
    rows = rows_of.in_range(session, call.table, call.code, equal, since=since, limit=MOST_ROWS, as_of=None)
    return rows[::-1]


def newest_periods(session: Session, call: InterfaceCall) -> Any:
    """Rows of one code in its newest report periods, newest first; only those with the requested values."""
    return _of_periods(session, call, call.params["periods"])


def of_period(session: Session, call: InterfaceCall) -> Any:
    """Rows of one code in one report period (default: its newest)."""
    period = call.params["report_period"]
    if period is not None:
        must_be_period(call, period)
    return _of_periods(session, call, 1, period)[: call.params.get("limit", MOST_ROWS)]


def by_year(session: Session, call: InterfaceCall) -> Any:
    """Forecasts of one code by year, oldest first: of several sources the one whose name sorts last, which
    prefers the company's page to the report."""
    rows = public_rows(
        session, call.table.name, ANY.code == call.code, order=["forecast_year", ANY.src.desc()]
    )
    found: dict[int, Row] = {}
    for row in rows:
        found.setdefault(row["forecast_year"], row)
    return list(found.values())
