"""Interfaces over reports of one company by report period and by year, and its stored minute bars."""

from typing import Any

from serving_api.db import rows as rows_of
from serving_api.db.rows import Row, public_rows
from serving_api.db.sessions import Session, condition
from serving_api.interfaces.call import InterfaceCall, filters_of, must_be_period
from serving_api.interfaces.parameters import MOST_ROWS


def _of_periods(session: Session, call: InterfaceCall, periods: int, period: str | None = None) -> list[Row]:
    """Rows of the newest report periods of a code (or of one `period`) with the requested values: the newest
    period first, within a period by the interface's column ("-column": largest first) and the key."""
    table, sort = call.table, call.interface.order
    of: dict[str, Any] = {"code": call.code, **filters_of(call)}
    if period is None:
        where, values = condition(of)
        found = session.run(
            f"SELECT DISTINCT report_period FROM {session.sql.name(table.name)} "
            f"WHERE {where} ORDER BY report_period DESC LIMIT ?",
            (*values, periods),
        )
        if not found:
            return []
        of["report_period>="] = str(found[-1][0])
    else:
        of["report_period"] = period
    order = ["report_period DESC"]
    if sort:
        column, way = sort.lstrip("-"), "DESC" if sort.startswith("-") else "ASC"
        order += [f"{column} IS NULL", f"{column} {way}"]
    order += [column for column in table.key if column not in ("code", "report_period")]
    return public_rows(session, table.name, of=of, order=", ".join(order))


_MINUTES = (5, 15, 30, 60)


def minute_bars(session: Session, call: InterfaceCall) -> Any:
    """Stored minute bars of the newest trade dates that have any, oldest first."""
    minutes = call.params["period"]
    if minutes not in _MINUTES:
        raise call.bad("period", f"{minutes} is none of {', '.join(map(str, _MINUTES))} minutes")
    equal = {"period": f"{minutes}m"}
    newest = rows_of.in_range(session, call.table, call.code, limit=1, as_of=None, equal=equal)
    if not newest:
        return []
    since = call.calendar.last(call.params["days"], str(newest[0]["datetime"])[:10])[0]
    rows = rows_of.in_range(
        session, call.table, call.code, since=since, limit=MOST_ROWS, as_of=None, equal=equal
    )
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
    rows = public_rows(session, call.table.name, of={"code": call.code}, order="forecast_year, src DESC")
    found: dict[int, Row] = {}
    for row in rows:
        found.setdefault(row["forecast_year"], row)
    return list(found.values())
