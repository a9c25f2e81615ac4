"""Counts and newest dates of tables. Identifiers come from declarations, values are bound.

With `attempt` a table that cannot be read does not affect the others.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from core.declaration.tables import Table
from core.errors import PlatformError
from resources.transport.redact import redact
from serving_api.db.sessions import Session

T = TypeVar("T")
MAX_ERROR = 200


@dataclass(frozen=True)
class Failure:
    """Why one table could not be read."""

    error: str


def attempt(work: Callable[..., T], *args: Any) -> T | Failure:
    """The result of `work`, or its error as short text."""
    try:
        return work(*args)
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        return Failure(redact(str(cause))[:MAX_ERROR])
    except PlatformError as error:
        return Failure(redact(error.message)[:MAX_ERROR])


def counters(session: Session) -> dict[str, dict[str, Any]]:
    """`table_version` by table name."""
    return {str(row["table_name"]): row for row in session.dicts("table_version")}


def probe(session: Session, table: Table) -> bool:
    """Whether the table has rows; raises when it cannot be read at all."""
    return bool(session.run(f"SELECT 1 FROM {session.sql.name(table.name)} LIMIT 1"))


def count(session: Session, table: Table) -> tuple[int, str | None]:
    """(COUNT(*), newest time of a row: updated_at, else imported_at, else when it ended)."""
    times = [name for name in ("updated_at", "imported_at", "finished_at") if name in table.names]
    newest = ", ".join(f"MAX({name})" for name in times)
    marks = f", {newest}" if newest else ""
    row = session.run(f"SELECT COUNT(*){marks} FROM {session.sql.name(table.name)}")[0]
    return int(row[0]), next((str(value) for value in row[1:] if value is not None), None)


def newest_day(session: Session, table: Table, column: str, before: str) -> str | None:
    """The newest date in `column` that is before the day `before`."""
    name = session.sql.name(column)
    statement = f"SELECT MAX({name}) FROM {session.sql.name(table.name)} WHERE {name} < ?"
    found = session.run(statement, (before,))[0][0]
    return None if found is None else str(found)[:10]


def of_code(
    session: Session, table: Table, code: str, column: str | None, before: str
) -> tuple[int, str | None]:
    """(rows of one code, the newest date in `column` that is before the day `before`; of a table without
    dates: the day of the newest update)."""
    times = (column, table.date_column, "updated_at", "imported_at")
    name = session.sql.name(next(name for name in times if name and name in table.names))
    row = session.run(
        f"SELECT COUNT(*), MAX(CASE WHEN {name} < ? THEN {name} END) "
        f"FROM {session.sql.name(table.name)} WHERE code=?",
        (before, code),
    )[0]
    return int(row[0]), None if row[1] is None else str(row[1])[:10]
