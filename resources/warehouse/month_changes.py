"""Which months of a table each batch changed: what the lake has yet to publish (`resources.lake`).

Written in the transaction of the batch, so that the record is as complete as the rows. Every change of a
published table moves its version by one and leaves at least one row here; a version without one (of a
warehouse that is older than this record) means that nobody knows which months changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy.engine import Connection

from core.declaration.tables import Table
from resources.warehouse.sql import Sql

TABLE = "sys_batch_month"


def record_months(
    sql: Sql, connection: Connection, table: Table, version: int, batch_id: str, months: Iterable[str]
) -> None:
    """Store that a batch, which made this version of the table, changed these months."""
    rows = [(table.name, version, month, batch_id) for month in sorted(months)]
    if table.published and rows:
        connection.exec_driver_sql(sql.insert(TABLE, ("table_name", "version", "month", "batch_id")), rows)


@dataclass(frozen=True)
class MonthChanges:
    """What changed in a table after the version `since`, up to the version `version` that it has now."""

    since: int
    version: int
    months: dict[str, int]
    """Month -> the newest version that changed it."""
    complete: bool
    """Whether every version after `since` is recorded; otherwise any month may have changed."""


def changes_since(sql: Sql, connection: Connection, table: str, since: int) -> MonthChanges:
    """The changes after version `since`. Read them and the rows in one transaction."""
    found = sql.run(connection, "SELECT version FROM table_version WHERE table_name=?", (table,)).scalar()
    version = 0 if found is None else int(found)
    if version == since:
        return MonthChanges(since, version, {}, True)
    recorded = f"FROM {TABLE} WHERE table_name=? AND version>?"
    values = (table, since)
    rows = sql.run(connection, f"SELECT month, MAX(version) {recorded} GROUP BY month", values).all()
    (count,) = sql.run(connection, f"SELECT COUNT(DISTINCT version) {recorded}", values).one()
    months = {str(month): int(newest) for month, newest in rows}
    return MonthChanges(since, version, months, version > since and int(count) == version - since)


def batches_since(sql: Sql, connection: Connection, table: str, since: int) -> list[tuple[str, str, int]]:
    """(batch, month, version) of the changes after version `since`, oldest first."""
    rows = sql.run(
        connection,
        f"SELECT batch_id, month, version FROM {TABLE} WHERE table_name=? AND version>? "
        "ORDER BY version, month",
        (table, since),
    )
    return [(str(batch), str(month), int(version)) for batch, month, version in rows]


def batch_at(sql: Sql, connection: Connection, table: str, version: int) -> str:
    """The batch that made a version of a table; empty for one that is not recorded."""
    found = sql.run(
        connection, f"SELECT batch_id FROM {TABLE} WHERE table_name=? AND version=? LIMIT 1", (table, version)
    ).scalar()
    return "" if found is None else str(found)
