"""SQL of the interfaces over reports of one company by report period and by year."""

from collections.abc import Mapping

from core.declaration.tables import Table
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows


def newest_periods(
    session: Session,
    table: Table,
    code: str,
    periods: int,
    equal: Mapping[str, str],
    sort: str = "",
    period: str | None = None,
) -> list[Row]:
    """Rows of the newest report periods of a code (or of one `period`) with the values of `equal`: the
    newest period first, within a period by a column ("-column": largest first) and the key."""
    clauses = ["code=?", *(f"{session.sql.name(column)}=?" for column in equal)]
    values = [code, *equal.values()]
    if period is None:
        found = session.run(
            f"SELECT DISTINCT report_period FROM {session.sql.name(table.name)} "
            f"WHERE {' AND '.join(clauses)} ORDER BY report_period DESC LIMIT ?",
            (*values, periods),
        )
        if not found:
            return []
        clauses, values = [*clauses, "report_period>=?"], [*values, str(found[-1][0])]
    else:
        clauses, values = [*clauses, "report_period=?"], [*values, period]
    order = ["report_period DESC"]
    if sort:
        column, way = sort.lstrip("-"), "DESC" if sort.startswith("-") else "ASC"
        order += [f"{column} IS NULL", f"{column} {way}"]
    order += [column for column in table.key if column not in ("code", "report_period")]
    return public_rows(
        session, table.name, where=" AND ".join(clauses), values=tuple(values), order=", ".join(order)
    )


def by_year(session: Session, table: Table, code: str) -> list[Row]:
    """One row per forecast year of a code, oldest first: of several sources the one whose name sorts last,
    which prefers the company's page to the report."""
    rows = public_rows(session, table.name, where="code=?", values=(code,), order="forecast_year, src DESC")
    found: dict[int, Row] = {}
    for row in rows:
        found.setdefault(row["forecast_year"], row)
    return list(found.values())
