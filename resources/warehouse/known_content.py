"""Rows that are known to be stored without a look at them: the ledger of batches says so.

A batch records the hash of its slice's content, the version of its table before and after it, and the one
date whose rows it could change. So the content of a date is known as long as every version that the table
had since was made by a batch of another date. A version that no batch explains (a delete, a batch that is no
longer recorded, rows of several dates) ends that.
"""

from dataclasses import dataclass

from sqlalchemy.engine import Connection

from core.declaration.tables import Table
from resources.warehouse.change_plan import Plan
from resources.warehouse.reads import fetch_plain
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql

MOST_VERSIONS = 1000
"""Versions that are looked through at most."""


@dataclass(frozen=True)
class KnownContent:
    """The hash of the content of a slice, and how many of its rows have a warning."""

    content_hash: str
    warnings: int


def only_date(table: Table, where: Slice, plan: Plan) -> str | None:
    """The one date whose rows a batch could change; None where they may be of several."""
    day = _date_of(table, where)
    if day is None:
        return None
    place = table.names.index(where.date_column or "")
    return day if all(row[place] == day for row in plan.written) else None


def known_content(
    sql: Sql,
    connection: Connection,
    table: Table,
    where: Slice,
    *,
    partition_key: str,
    rows: int,
    version: int,
) -> KnownContent | None:
    """What the slice holds if it holds `rows` rows, in the table's present `version`; None where no batch of
    so many rows says it."""
    statement = (
        "SELECT content_hash, rows_warning, version_after FROM sys_batch WHERE table_name=? AND "
        "partition_key=? AND status='success' AND rows_ok+rows_warning=? AND version_after>=? "
        "ORDER BY version_after DESC LIMIT 1"
    )
    oldest = version - MOST_VERSIONS
    found = fetch_plain(connection, sql.text(statement), (table.name, partition_key, rows, oldest))
    if not found:
        return None
    ((content_hash, warnings, then),) = found
    if then != version and not _of_other_dates(sql, connection, table, where, then, version):
        return None
    held = 0
    for clause, values in where.clauses():
        counted = f"SELECT COUNT(*) FROM {sql.name(table.name)}{clause}"
        held += fetch_plain(connection, sql.text(counted), values)[0][0]
    return KnownContent(content_hash, int(warnings)) if held == rows else None


def _of_other_dates(
    sql: Sql, connection: Connection, table: Table, where: Slice, then: int, version: int
) -> bool:
    """Whether batches of other dates made every version after `then`."""
    day = _date_of(table, where)
    if day is None:
        return False
    statement = (
        "SELECT COUNT(*) FROM sys_batch WHERE table_name=? AND version_after>? AND version_after<=? AND "
        "version_after=version_before+1 AND only_date<>?"
    )
    ((explained,),) = fetch_plain(connection, sql.text(statement), (table.name, then, version, day))
    return bool(explained == version - then)


def _date_of(table: Table, where: Slice) -> str | None:
    """The date of a slice of one date."""
    is_date = where.date_column is not None and where.date_column == table.date_column
    return where.since if is_date and where.since == where.until else None
