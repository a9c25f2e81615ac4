"""The rows of a batch's plan, as statements: loaded at once where that pays, else with bound values."""

from collections.abc import Sequence

from sqlalchemy.engine import Connection

from core.declaration.tables import Table
from resources.warehouse.bulk_load import BulkLoad, Refused
from resources.warehouse.change_plan import Plan, Row, merged
from resources.warehouse.sql import Sql


class RowWrites:
    """Carries out plans inside the transaction of their batches."""

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
