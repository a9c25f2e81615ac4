"""The version row of a table, which every write locks before it reads the table."""

from sqlalchemy.engine import Connection

from core.declaration.tables import Table
from core.errors import StorageError
from resources.warehouse.sql import Sql


def claim_version(sql: Sql, connection: Connection, table: Table) -> int:
    """The table's version, held until the transaction ends: writers of one table follow each other. Raises
    StorageError before the first migration."""
    lock = "" if sql.sqlite else " FOR UPDATE"
    found = sql.run(
        connection, f"SELECT version FROM table_version WHERE table_name=?{lock}", (table.name,)
    ).scalar()
    if found is None:
        raise StorageError(f"{table.name} has no version row; the warehouse was not migrated")
    return int(found)


def count_change(sql: Sql, connection: Connection, table: str, now: str | None = None) -> None:
    """Move the version of a table that no batch writes (caches and ETags depend on it), count its rows, and
    say that they are of `now` where it is given."""
    at, values = ("", (table,)) if now is None else ("updated_at=?, ", (now, table))
    connection.exec_driver_sql(
        sql.text(
            f"UPDATE table_version SET version=version+1, {at}row_count=(SELECT COUNT(*) FROM {table}) "
            "WHERE table_name=?"
        ),
        values,
    )
