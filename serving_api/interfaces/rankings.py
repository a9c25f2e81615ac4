"""Interfaces over the newest row of every code, over ex-dates and visits."""

from typing import Any

import sqlalchemy as sa

from core.days import moved
from resources.warehouse.stored import ANY, select, within
from serving_api.db.rows import newest, public_columns, public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall, bounds_of

_LOOK_BACK = 400
"""A row older than this no longer shows the current state of a company."""
_YEAR = 365


def rank(session: Session, call: InterfaceCall) -> Any:
    """The newest row of every code, in the order of a column (`-` = descending), without rows that have no
    value in it."""
    table, sort = call.table, call.params["sort"]
    column, falling = sort.removeprefix("-"), sort.startswith("-")
    if column not in public_columns(table) or table.column(column).family not in ("float", "int", "date"):
        raise call.bad("sort", f"{sort[:40]!r} is no column of numbers or dates of {table.name}")
    day, columns = str(table.date_column), (table.key[0], column)
    recent = ANY[day] >= moved(call.instant_day, -_LOOK_BACK)
    found = session.rows(table.name, recent, columns=columns, as_of=call.as_of, order=[day])
    values = {str(code): value for code, value in found}  # the newest comes last
    known = [code for code, value in values.items() if value is not None]
    ranked = sorted(sorted(known), key=lambda code: values[code], reverse=falling)
    rows = [newest(session, table, code, call.as_of) for code in ranked[: call.params["limit"]]]
    return [row for row in rows if row is not None]


def ex_dates(session: Session, call: InterfaceCall) -> Any:
    """Dividends with an ex-date in a window, which may be in the future, earliest first; from today on
    without a start."""
    since, until = bounds_of(call)
    if since is None:
        since = call.instant_day if until is None else min(call.instant_day, until)
    of, order = [ANY.ex_date >= since, *within(ANY.ex_date, None, until)], ["ex_date", "code", "ann_date"]
    limit = call.params["limit"]
    return public_rows(session, call.table.name, *of, as_of=call.as_of, order=order, limit=limit)


def yield_rank(session: Session, call: InterfaceCall) -> Any:
    """{code, name, dividend_yield, bonus_rmb, dividends, ex_date} of the codes with the highest sums of
    yields over the ex-dates of the last 365 days; `ex_date` is the newest of them."""
    today = call.instant_day
    rows = session.dicts(
        call.table.name,
        ANY.ex_date > moved(today, -_YEAR),
        ANY.ex_date <= today,
        ANY.dividend_yield.is_not(None),
        columns=("code", "name", "ex_date", "dividend_yield", "bonus_rmb"),
        as_of=call.as_of,
        order=["code", "ex_date"],
    )
    sums: dict[str, dict[str, Any]] = {}
    for row in rows:
        held = sums.setdefault(
            row["code"], {"code": row["code"], "dividend_yield": 0.0, "bonus_rmb": 0.0, "dividends": 0}
        )
        held["name"], held["ex_date"] = row["name"], row["ex_date"]
        held["dividend_yield"] = round(held["dividend_yield"] + row["dividend_yield"], 4)
        held["bonus_rmb"] = round(held["bonus_rmb"] + (row["bonus_rmb"] or 0.0), 4)
        held["dividends"] += 1
    order = sorted(sums.values(), key=lambda one: (-one["dividend_yield"], one["code"]))
    return order[: call.params["limit"]]


def most_visited(session: Session, call: InterfaceCall) -> Any:
    """{code, visitors, visits, survey_date} of the codes with the most visitors in the last days;
    `survey_date` is the newest visit."""
    day, count = ANY.survey_date, sa.func.count()
    visits = select(call.table.name, ANY.code, count, sa.func.count(day.distinct()), sa.func.max(day))
    recent = visits.where(day > moved(call.today, -call.params["days"]), day <= call.today)
    ranked = recent.group_by(ANY.code).order_by(count.desc(), ANY.code)
    rows = session.run(ranked.limit(call.params["limit"]))
    names = ("code", "visitors", "visits", "survey_date")
    return [
        dict(zip(names, (code, int(count), int(times), str(day)), strict=True))
        for code, count, times, day in rows
    ]
