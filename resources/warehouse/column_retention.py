"""Column retention: columns that a calculated table holds for its newest dates alone.

Values of older dates are cleared, the rows stay. Clearing is a batch like any write, so that its row says
which dates lost them; `updated_at` of the table does not move, since no data was added.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Engine

from core.clock import Clock, stamp
from core.declaration.tables import Table
from resources.warehouse.batch_records import Batch, end_batch, insert_batch
from resources.warehouse.engine import transaction
from resources.warehouse.month_changes import record_months
from resources.warehouse.sql import Ledger
from resources.warehouse.table_versions import claim_version

QUIET_DATES = 5
"""Older dates in a row without a value, after which no older one is read: every load clears what has left the
window since the load before."""
CLEARED = "values_removed"
"""Where a batch's `checks` say how many rows lost their value."""


class ColumnRetention(Ledger):
    """Clears old values of columns in one warehouse."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        super().__init__(engine)
        self._clock = clock

    def clear(self, table: Table, column: str, days: Sequence[str], facts: Mapping[str, Any]) -> int:
        """Rows of `days` (trade dates, the newest first) that lost their value of `column`. One transaction
        and batch per date; ends with the fifth date in a row that has none. Raises StorageError."""
        cleared = quiet = 0
        for day in days:
            rows = self._of_day(table, column, day, facts) if self._has(table, column, day) else 0
            cleared, quiet = cleared + rows, 0 if rows else quiet + 1
            if quiet == QUIET_DATES:
                break
        return cleared

    def oldest(self, table: Table) -> str | None:
        """The oldest date of a table."""
        name, column = self._sql.name(table.name), self._sql.name(str(table.date_column))
        (found,) = self._sql.rows(f"SELECT MIN({column}) FROM {name}")[0]
        return None if found is None else str(found)[:10]

    def _has(self, table: Table, column: str, day: str) -> bool:
        statement = f"SELECT 1 FROM {self._sql.name(table.name)} {self._held(table, column)} LIMIT 1"
        return bool(self._sql.rows(statement, (day,)))

    def _held(self, table: Table, column: str) -> str:
        return f"WHERE {self._sql.name(str(table.date_column))}=? AND {self._sql.name(column)} IS NOT NULL"

    def _of_day(self, table: Table, column: str, day: str, facts: Mapping[str, Any]) -> int:
        # The key of a span: a load of the date is what its bare key would claim.
        batch = Batch(partition_key=f"{day}..{day}", **facts)
        with transaction(self._engine) as connection:
            version = claim_version(self._sql, connection, table) + 1
            rows = self._sql.run(
                connection,
                f"UPDATE {self._sql.name(table.name)} SET {self._sql.name(column)}=NULL "
                f"{self._held(table, column)}",
                (day,),
            ).rowcount
            now = stamp(self._clock.now())
            insert_batch(self._sql, connection, table, batch, now)
            checks = f'{{"{CLEARED}":{rows}}}'
            end_batch(self._sql, connection, batch.batch_id, "success", {}, now, checks_json=checks)
            self._sql.run(
                connection, "UPDATE table_version SET version=? WHERE table_name=?", (version, table.name)
            )
            record_months(self._sql, connection, table, version, batch.batch_id, {table.month_of(day)})
        return int(rows)
