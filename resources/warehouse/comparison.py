"""What a batch has to know of the stored rows of its slice: those that differ from its own, and which of its
own are stored already.

On SQLite, and for a few rows, all stored rows are read. On MariaDB the rows of the batch are loaded into a
temporary table and the server compares: reading 27 columns of 5,500 equal rows through the driver took two
thirds of the write of an unchanged date.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.declaration.tables import Table
from resources.warehouse.bulk_load import BulkLoad, Refused
from resources.warehouse.change_plan import Plan, Row, compared, merged, picker
from resources.warehouse.reads import driver_rows, select_rows
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.stored import Where, select

_STAGE = "ashare_incoming"
_PLACE = "i_place"
_MOSTLY = 2
"""The server compares where at least one of this many incoming rows is stored."""
_TEXTS = frozenset({"text", "json"})


@dataclass(frozen=True)
class Stored:
    """`rows`: the stored rows of a slice, without those whose keys are in `equal`: incoming rows that are
    stored with the same content."""

    rows: list[Row]
    equal: set[Row] = field(default_factory=set)


class Comparison:
    """Finds the stored rows that a batch has to look at."""

    def __init__(self, sql: Sql, bulk: BulkLoad) -> None:
        self._sql = sql
        self._bulk = bulk

    def stored(self, connection: Connection, table: Table, where: Slice, incoming: Sequence[Row]) -> Stored:
        """Stored rows of the slice."""
        parts = list(where.conditions())
        if len(parts) == 1 and self._bulk.pays(len(incoming)):
            count = self._count(connection, table, parts[0])
            if count == 0:
                return Stored([])
            if count * _MOSTLY >= len(incoming):
                try:
                    return self._compared(connection, table, parts[0], incoming, count)
                except Refused:
                    pass
                finally:
                    connection.exec_driver_sql(f"DROP TEMPORARY TABLE IF EXISTS {_STAGE}")
        found: list[Row] = []
        for conditions in parts:
            found += select_rows(connection, table, *conditions)
        return Stored(found)

    def _count(self, connection: Connection, table: Table, conditions: Sequence[Where]) -> int:
        return int(connection.execute(select(table.name, sa.func.count()).where(*conditions)).scalar_one())

    def _compared(
        self,
        connection: Connection,
        table: Table,
        conditions: Sequence[Where],
        incoming: Sequence[Row],
        count: int,
    ) -> Stored:
        columns = (*table.key, *compared(table))
        pick = picker([table.names.index(name) for name in columns])
        staged = {name: f"i{place}" for place, name in enumerate(columns)}
        self._stage(connection, table, staged, [(at, *pick(row)) for at, row in enumerate(incoming)])
        i = sa.table(_STAGE, *map(sa.column, (_PLACE, *staged.values()))).alias("i")
        t = sa.table(table.name, *map(sa.column, table.names)).alias("t")
        on = sa.and_(*(t.c[key] == i.c[staged[key]] for key in table.key))
        same = " AND ".join(self._same(table, column, staged[column]) for column in columns)
        statement = sa.select(i.c[_PLACE], *t.c).select_from(i.outerjoin(t, sa.and_(on, *conditions)))
        unequal = driver_rows(connection.execute(statement.where(sa.text(f"NOT ({same})"))))
        pick_key = picker([table.names.index(key) for key in table.key])
        first = 1 + table.names.index(table.key[0])
        rows = [row[1:] for row in unequal if row[first] is not None]
        places = {row[0] for row in unequal}
        if count > len(incoming) - len(places) + len(rows):
            absent = sa.select(*t.c).select_from(t.outerjoin(i, on))
            rows += driver_rows(connection.execute(absent.where(*conditions, i.c[_PLACE].is_(None))))
        return Stored(rows, {pick_key(row) for at, row in enumerate(incoming) if at not in places})

    def _stage(
        self, connection: Connection, table: Table, staged: dict[str, str], rows: Sequence[Row]
    ) -> None:
        """The compared columns of the batch, in a temporary table of this connection."""
        name = self._sql.name
        made = ", ".join(f"{name(column)} AS {own}" for column, own in staged.items())
        key = ", ".join(staged[column] for column in table.key)
        try:
            connection.exec_driver_sql(
                f"CREATE TEMPORARY TABLE {_STAGE} ({_PLACE} INT NOT NULL, PRIMARY KEY ({key})) "
                f"SELECT 0 AS {_PLACE}, {made} FROM {name(table.name)} LIMIT 0"
            )
        except sa.exc.DBAPIError as error:
            self._bulk.check(error)
            raise
        self._bulk.load(connection, _STAGE, (_PLACE, *staged.values()), rows)

    def _same(self, table: Table, column: str, own: str) -> str:
        if table.column(column).family in _TEXTS:
            # The server's own comparison leaves blanks at the end out.
            return f"BINARY t.{self._sql.name(column)} <=> BINARY i.{own}"
        return f"t.{self._sql.name(column)} <=> i.{own}"


class RowWrites:
    """Carries out plans inside the transaction of their batches: the rows are loaded at once where that pays,
    else with bound values."""

    def __init__(self, sql: Sql, bulk: BulkLoad) -> None:
        self._sql = sql
        self._bulk = bulk

    def apply(self, connection: Connection, table: Table, plans: Sequence[Plan]) -> None:
        """Superseded rows into the history, removed rows out, new and changed rows in, new patterns in."""
        history = [row for plan in plans for row in plan.history]
        if history:
            names = (*table.names, "valid_to", "superseded_by")
            if not self._loaded(connection, table.history_name, names, history):
                connection.exec_driver_sql(self._sql.insert(table.history_name, names), history)
        removed = [key for plan in plans for key in plan.removed]
        if removed:
            condition = " AND ".join(f"{self._sql.name(name)}=?" for name in table.key)
            self._sql.run(connection, f"DELETE FROM {self._sql.name(table.name)} WHERE {condition}", removed)
        written = merged(table, plans)
        # Where two keys of a table are unique, a LOAD would remove the row that has the other one.
        alone = not (table.unique or table.serial)
        if written and not (
            alone and self._loaded(connection, table.name, table.names, written, replace=True)
        ):
            connection.exec_driver_sql(self._sql.upsert(table.name, table.names, table.key), written)
        patterns = {number: text for plan in plans for number, text in plan.patterns.items()}
        if patterns:
            connection.exec_driver_sql(
                self._sql.insert_absent("sys_provenance", ("id", "pattern")), sorted(patterns.items())
            )

    def _loaded(
        self,
        connection: Connection,
        name: str,
        columns: Sequence[str],
        found: Sequence[Row],
        *,
        replace: bool = False,
    ) -> bool:
        """Whether rows were loaded at once; otherwise nothing was done."""
        if not self._bulk.pays(len(found)):
            return False
        try:
            with connection.begin_nested():
                self._bulk.load(connection, name, columns, found, replace=replace)
        except Refused:
            return False
        return True
