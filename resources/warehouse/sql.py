"""Dialect differences of hand-written statements, in one place.

Statements are written with `?` marks and qualified by `Sql.text`; values are always bound.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, CursorResult, Engine, Row

from resources.warehouse.deadlocks import tried_again
from resources.warehouse.engine import is_sqlite, reading, transaction


def marks(values: Collection[Any]) -> str:
    """A `?` for each of some values."""
    return ", ".join("?" * len(values))


class Sql:
    """Statement text for one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.sqlite = is_sqlite(engine)
        self._quote = engine.dialect.identifier_preparer.quote

    @property
    def now(self) -> str:
        """Expression: seconds since the epoch by the database's clock."""
        return "((julianday('now') - 2440587.5) * 86400.0)" if self.sqlite else "UNIX_TIMESTAMP(NOW(6))"

    def text(self, statement: str) -> str:
        """`?` marks in the driver's own style."""
        return statement if self.sqlite else statement.replace("%", "%%").replace("?", "%s")

    def run(
        self, connection: Connection, statement: str | sa.Executable, values: Any = None
    ) -> CursorResult[*tuple[Any, ...]]:
        """A statement on a connection; text has `?` marks, with `values` of one row, or of many in a list."""
        if isinstance(statement, str):
            return connection.exec_driver_sql(self.text(statement), values)
        return connection.execute(statement)

    def rows(self, statement: str | sa.Executable, values: Any = None) -> Sequence[Row[*tuple[Any, ...]]]:
        """All rows of a statement that only reads, on a connection of its own."""
        with reading(self._engine) as connection:
            return self.run(connection, statement, values).all()

    @tried_again
    def change(self, statement: str | sa.Executable, values: Any = None) -> int:
        """Rows that a statement changed, in a transaction of its own."""
        with transaction(self._engine) as connection:
            return self.run(connection, statement, values).rowcount

    def put(self, connection: Connection, table: str, row: Mapping[str, Any]) -> None:
        """Insert one row, given by column."""
        connection.exec_driver_sql(self.insert(table, list(row)), tuple(row.values()))

    def name(self, identifier: str) -> str:
        return self._quote(identifier)

    def names(self, identifiers: Sequence[str]) -> str:
        return ", ".join(self.name(item) for item in identifiers)

    def insert(self, table: str, columns: Sequence[str]) -> str:
        into = f"INSERT INTO {self.name(table)} ({self.names(columns)})"
        return self.text(f"{into} VALUES ({marks(columns)})")

    def insert_absent(self, table: str, columns: Sequence[str]) -> str:
        """INSERT that leaves a row with an existing key as it is."""
        verb = "INSERT OR IGNORE" if self.sqlite else "INSERT IGNORE"
        return verb + self.insert(table, columns).removeprefix("INSERT")

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Insert, or set every non-key column of the row with this key."""
        others = [column for column in columns if column not in key]
        base = self.insert(table, columns)
        if self.sqlite:
            sets = ", ".join(f"{self.name(c)}=excluded.{self.name(c)}" for c in others)
            return f"{base} ON CONFLICT ({self.names(key)}) DO UPDATE SET {sets}"
        sets = ", ".join(f"{self.name(c)}=VALUES({self.name(c)})" for c in others)
        return f"{base} ON DUPLICATE KEY UPDATE {sets}"


class Ledger:
    """Base of what reads and writes tables of one warehouse."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sql = Sql(engine)
