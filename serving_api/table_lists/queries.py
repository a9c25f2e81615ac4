"""SQL that several topics share. Every function takes a Session first; RAW tables keep no versions."""

from collections.abc import Sequence
from typing import Any

from core.declaration.tables import Table
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, newest_date, on_date

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
    if not session.has(name):
        return [], day
    table = session.table(name)
    day = day or newest_date(session, table, None)
    if day is None:
        return [], None
    return on_date(session, table, day, sort=None, limit=_ALL, offset=0, as_of=None), day


def newest_until(session: Session, name: str, day: str) -> str | None:
    """The newest date of a table that is not after `day`: for lists that are published once a week."""
    if not session.has(name):
        return None
    column = session.sql.name(str(session.table(name).date_column))
    found = session.run(f"SELECT MAX({column}) FROM {session.sql.name(name)} WHERE {column}<=?", (day,))
    return str(found[0][0]) if found and found[0][0] is not None else None
