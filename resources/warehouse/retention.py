"""Retention of staged time series: how long they are stored, and the deletes.

Only staging tables can be shortened: what is fused, received or recorded (batches, quality records,
responses) stays. A delete is a batch like any write: its row says which dates went, and how many rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from sqlalchemy.engine import Engine

from core.clock import Clock, stamp
from core.declaration.tables import Layer, Table
from core.errors import InputError
from resources.warehouse.batch_records import Batch, end_batch, insert_batch
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Ledger
from resources.warehouse.table_versions import claim_version

SETTING = "data.cleanup.retention_days"
"""Key of the stored setting that the scheduled cleanup follows."""
SCHEDULED_DAYS = 1095
LEAST_DAYS = 30
MOST_DAYS = 36_500
REMOVED = "rows_removed"
"""Where a batch's `checks` say how many rows it deleted."""
MAX_ROWS = 50_000
"""Rows that one transaction deletes at most, unless a single date has more."""


def cutoff(today: date, days: int) -> str:
    """First day that is retained; rows of earlier days are deleted. Raises InputError for less than
    LEAST_DAYS."""
    if not LEAST_DAYS <= days <= MOST_DAYS:
        raise InputError("days", f"{days} is out of range; {LEAST_DAYS}..{MOST_DAYS} are allowed")
    return (today - timedelta(days=days)).isoformat()


def scheduled_days(stored: Mapping[str, str]) -> int:
    """Retention in days from the stored settings (key -> value). Raises InputError for a value that is no
    number of days, so that nothing is deleted by mistake."""
    text = stored.get(SETTING, str(SCHEDULED_DAYS))
    if not (text.isascii() and text.isdecimal()):
        raise InputError(SETTING, f"{text[:40]!r} is no number of days")
    return int(text)


@dataclass(frozen=True)
class Removed:
    """What one transaction deleted: rows of the dates from `first` to `last`."""

    batch_id: str
    first: str
    last: str
    rows: int


class Retention(Ledger):
    """Counts and deletes of old staging rows in one warehouse."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        super().__init__(engine)
        self._clock = clock

    def count(self, table: Table, before: str) -> int:
        """Rows of days before `before`. Raises StorageError."""
        name, column = self._sql.name(table.name), self._sql.name(_date_of(table))
        return int(self._sql.rows(f"SELECT COUNT(*) FROM {name} WHERE {column} < ?", (before,))[0][0])

    def remove(self, table: Table, before: str, facts: Mapping[str, Any]) -> Iterator[Removed]:
        """Delete the rows of days before `before`, oldest first, one transaction and batch per some dates;
        the caller may stop between two. `facts` go into each batch. Raises StorageError."""
        column = _date_of(table)
        for first, last in self._chunks(table, column, before):
            yield self._remove(table, column, first, last, Batch(partition_key=f"{first}..{last}", **facts))

    def _chunks(self, table: Table, column: str, before: str) -> list[tuple[str, str]]:
        """(first day, last day) of what one transaction deletes."""
        name = self._sql.name(column)
        day = f"SUBSTR({name}, 1, 10)" if self._sql.sqlite else f"CAST(DATE({name}) AS CHAR)"
        days = self._sql.rows(
            f"SELECT {day} AS day, COUNT(*) FROM {self._sql.name(table.name)} WHERE {name} < ? "
            "GROUP BY day ORDER BY day",
            (before,),
        )
        chunks: list[tuple[str, str]] = []
        rows = 0
        for found, count in days:
            if chunks and rows + int(count) <= MAX_ROWS:
                chunks[-1], rows = (chunks[-1][0], str(found)), rows + int(count)
            else:
                chunks.append((str(found), str(found)))
                rows = int(count)
        return chunks

    def _remove(self, table: Table, column: str, first: str, last: str, batch: Batch) -> Removed:
        # A column of times: the whole last day belongs to the chunk.
        after = (date.fromisoformat(last) + timedelta(days=1)).isoformat()
        name, column = self._sql.name(table.name), self._sql.name(column)
        with transaction(self._engine) as connection:
            claim_version(self._sql, connection, table)
            now = stamp(self._clock.now())
            rows = self._sql.run(
                connection, f"DELETE FROM {name} WHERE {column} >= ? AND {column} < ?", (first, after)
            ).rowcount
            insert_batch(self._sql, connection, table, batch, now)
            checks = f'{{"{REMOVED}":{rows}}}'
            end_batch(self._sql, connection, batch.batch_id, "success", {}, now, checks_json=checks)
            newest = connection.exec_driver_sql(f"SELECT MAX({column}) FROM {name}").scalar()
            # Neither `updated_at` nor `confirmed_at` moves: a delete brings nothing new.
            self._sql.run(
                connection,
                "UPDATE table_version SET version=version+1, row_count=row_count-?, latest_date=? "
                "WHERE table_name=?",
                (rows, None if newest is None else str(newest)[:10], table.name),
            )
        return Removed(batch.batch_id, first, last, rows)


def _date_of(table: Table) -> str:
    """The column that says how old a row is. Raises InputError for a table that is never shortened."""
    if table.layer is not Layer.STG or table.date_column is None:
        raise InputError("table", f"{table.name} is never shortened: only staged time series are cleaned up")
    return table.date_column
