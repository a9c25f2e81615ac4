"""SQL of the interfaces over the newest row of every code, and over ex-dates."""

from typing import Any

from core.days import moved
from core.declaration.tables import Table
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, newest, public_columns, public_rows

_LOOK_BACK = 400
"""A row older than this no longer shows the current state of a company."""
_YEAR = 365


def newest_ranked(
    session: Session, table: Table, sort: str, limit: int, today: str, as_of: str | None
) -> list[Row]:
    """The newest row of each code, in the order of a column (`-` = descending), without rows that have no
    value in it."""
    column, falling = sort.removeprefix("-"), sort.startswith("-")
    found = session.rows(
        table.name,
        columns=(table.key[0], column),
        where=f"{table.date_column}>=?",
        values=(moved(today, -_LOOK_BACK),),
        as_of=as_of,
        order=f"{table.date_column}",
    )
    values = {str(code): value for code, value in found}  # the newest comes last
    known = [code for code, value in values.items() if value is not None]
    order = sorted(sorted(known), key=lambda code: values[code], reverse=falling)
    rows = [newest(session, table, code, as_of) for code in order[:limit]]
    return [row for row in rows if row is not None]


def is_rankable(table: Table, column: str) -> bool:
    return column in public_columns(table) and table.column(column).family in ("float", "int", "date")


def ex_dates(
    session: Session, table: Table, since: str, until: str | None, limit: int, as_of: str | None
) -> list[Row]:
    """Rows with an ex-date between two days, earliest first."""
    bounds = [("ex_date>=?", since), *([("ex_date<=?", until)] if until is not None else [])]
    return public_rows(
        session,
        table.name,
        where=" AND ".join(clause for clause, _ in bounds),
        values=tuple(value for _, value in bounds),
        as_of=as_of,
        order="ex_date, code, ann_date",
        limit=limit,
    )


def trailing_yields(
    session: Session, table: Table, today: str, limit: int, as_of: str | None
) -> list[dict[str, Any]]:
    """{code, name, dividend_yield, bonus_rmb, dividends, ex_date} of the codes with the highest sums of
    yields over the ex-dates of the last 365 days; `ex_date` is the newest of them."""
    rows = session.dicts(
        table.name,
        columns=("code", "name", "ex_date", "dividend_yield", "bonus_rmb"),
        where="ex_date>? AND ex_date<=? AND dividend_yield IS NOT NULL",
        values=(moved(today, -_YEAR), today),
        as_of=as_of,
        order="code, ex_date",
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
    return order[:limit]


def most_visited(session: Session, table: Table, today: str, days: int, limit: int) -> list[dict[str, Any]]:
    """{code, visitors, visits, survey_date} of the codes with the most visitors in the last `days` days;
    `survey_date` is the newest visit."""
    rows = session.run(
        "SELECT code, COUNT(*), COUNT(DISTINCT survey_date), MAX(survey_date) "
        f"FROM {session.sql.name(table.name)} WHERE survey_date>? AND survey_date<=? "
        "GROUP BY code ORDER BY 2 DESC, code LIMIT ?",
        (moved(today, -days), today, limit),
    )
    names = ("code", "visitors", "visits", "survey_date")
    return [
        dict(zip(names, (code, int(count), int(times), str(day)), strict=True))
        for code, count, times, day in rows
    ]
