"""Publishes what changed in a table of the warehouse since it was published last.

Months are read in one consistent view of the warehouse and committed with the version that they show; a long
first publication is several commits, so that a killed one goes on where it was. A commit replaces its months
whole and names the batches whose rows it holds. Files are written before the commit: a process that is killed
leaves the old version readable, and files that nobody names (`resources.lake.upkeep` deletes them).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema, WriterProperties, write_deltalake
from sqlalchemy.engine import Connection

from core.clock import stamp
from core.declaration.tables import WHOLE, Table
from core.errors import NotFound
from resources.lake.location import Lake, PublishedTable, lake_failures
from resources.lake.schema import MONTH, lake_schema, partition_columns
from resources.lake.state import Published, batch_number, marks
from resources.lake.upkeep import KEPT_DAYS
from resources.lake.warehouse_rows import consistent, month_rows, stored_months, with_partitions
from resources.warehouse.month_changes import MonthChanges, batch_at, batches_since, changes_since
from resources.warehouse.sql import Sql
from resources.warehouse.warehouse import Warehouse

log = logging.getLogger(__name__)
ROWS_AT_ONCE = 500_000
"""Rows after which a commit ends: they are held in memory."""
ROW_GROUP = 65_536
"""Rows of a row group: a read of some codes decodes the groups that hold them."""
INDEXED_COLUMNS = 32
"""Columns of which the log has the least and the greatest value of every file."""
_WRITER = WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=ROW_GROUP)


@dataclass(frozen=True)
class Publication:
    """What one publication of a table did. `version` is the warehouse's; `rebuilt`: everything was published
    again because the lake was not made from this warehouse's history."""

    table: str
    months: tuple[str, ...]
    rows: int
    batches: tuple[str, ...]
    commits: int
    version: int
    rebuilt: bool

    @property
    def changed(self) -> bool:
        return self.commits > 0


@dataclass(frozen=True)
class Plan:
    """What has to be published: `months` of the table's `version`, in an epoch of the state."""

    epoch: int
    months: tuple[str, ...]
    version: int
    rebuilt: bool
    state: Published


class Publisher:
    """Publishes tables of one warehouse in one lake."""

    def __init__(self, warehouse: Warehouse, lake: Lake) -> None:
        self._warehouse = warehouse
        self._sql = warehouse.sql
        self._lake = lake

    def publish(self, table: Table) -> Publication:
        """Bring a published table up to the warehouse; nothing is written where nothing changed. Raises
        StorageError, ConflictError when another process publishes the same table."""
        opened = self._opened(table)
        with consistent(self._warehouse) as connection:
            plan = planned(self._sql, connection, table, opened)
        # Bound to the planned snapshot: what another process commits meanwhile is a conflict.
        delta = self._lake.delta(table.name, opened.delta.version())
        left = list(plan.months)
        rows = commits = 0
        batches: dict[str, None] = {}
        while left:
            done, count, named = self._commit(table, plan, delta, left)
            left = left[len(done) :]
            rows, commits = rows + count, commits + 1
            batches |= dict.fromkeys(named)
        if commits:
            log.info("%s: %d rows of %d months published", table.name, rows, len(plan.months))
        return Publication(table.name, plan.months, rows, tuple(batches), commits, plan.version, plan.rebuilt)

    def _opened(self, table: Table) -> PublishedTable:
        """The published table, made or extended to the declaration."""
        try:
            opened = self._lake.table(table.name)
        except NotFound:
            return self._made(table)
        wanted = lake_schema(table)
        new = [field for field in wanted if field.name not in opened.schema.names]
        kept = [field for field in opened.schema if field.name in wanted.names]
        if any(field.type != wanted.field(field.name).type for field in kept) or (
            len(kept) < len(opened.schema) or opened.partitions != partition_columns(table)
        ):
            return self._made(table, mode="overwrite")
        if new:
            with lake_failures(f"{table.name} cannot be extended in the lake"):
                added = Schema.from_arrow(pa.schema([field.with_nullable(True) for field in new])).fields
                opened.delta.alter.add_columns(list(added))
            return self._lake.table(table.name)
        return opened

    def _made(self, table: Table, mode: str = "error") -> PublishedTable:
        """A table without rows, in the place of another one with mode 'overwrite'."""
        with lake_failures(f"{table.name} cannot be made in the lake"):
            DeltaTable.create(
                self._lake.address(table.name),
                lake_schema(table),
                mode=mode,  # type: ignore[arg-type]
                partition_by=partition_columns(table),
                name=table.name,
                description=table.description,
                configuration={
                    "delta.dataSkippingNumIndexedCols": str(INDEXED_COLUMNS),
                    "delta.checkpointInterval": "20",
                    "delta.deletedFileRetentionDuration": f"interval {KEPT_DAYS} days",
                },
                storage_options=self._lake.options or None,
            )
        return self._lake.table(table.name)

    def _commit(
        self, table: Table, plan: Plan, delta: DeltaTable, left: Sequence[str]
    ) -> tuple[list[str], int, list[str]]:
        """Publish the first of the months that are left: (these months, rows, batches)."""
        months: list[str] = []
        data = lake_schema(table).empty_table()
        with consistent(self._warehouse) as connection:
            version = changes_since(self._sql, connection, table.name, plan.version).version
            for month in left:
                if len(data) >= ROWS_AT_ONCE:
                    break
                months.append(month)
                if month != WHOLE or table.month_column is None:
                    found = month_rows(connection, self._sql, table, month)
                    data = pa.concat_tables([data, with_partitions(table, found, month)])
            batch_id = batch_at(self._sql, connection, table.name, version)
            named = self._batches(connection, table, plan, months, data)
        facts = {
            "batches": orjson.dumps(named).decode(),
            "months": orjson.dumps(months).decode(),
            "warehouse_version": str(version),
            "published_at": stamp(self._warehouse.clock.now()),
        }
        complete = plan.version if len(months) == len(left) else None
        state = marks(plan.epoch, dict.fromkeys(months, version), version, batch_id, complete)
        with lake_failures(f"{table.name} cannot be published"):
            write_deltalake(
                delta,
                data,
                mode="overwrite",
                predicate=_predicate(months),
                writer_properties=_WRITER,
                commit_properties=CommitProperties(custom_metadata=facts, app_transactions=state),
            )
        return months, len(data), named

    def _batches(
        self, connection: Connection, table: Table, plan: Plan, months: Sequence[str], data: pa.Table
    ) -> list[str]:
        """Batches that the commit holds: those that made its rows, or changed its months since."""
        found = {str(one) for one in pc.unique(data["batch_id"]).to_pylist() if one}
        if table.has_history:
            found |= {str(one) for one in pc.unique(data["superseded_by"]).to_pylist() if one}
        since = plan.state.since(months)
        found |= {
            batch
            for batch, month, _ in batches_since(self._sql, connection, table.name, since)
            if month in months
        }
        return sorted(found)


def _predicate(months: Sequence[str]) -> str | None:
    if list(months) == [WHOLE]:
        return None
    return f"{MONTH} IN ({', '.join(repr(month) for month in months)})"


def planned(sql: Sql, connection: Connection, table: Table, opened: PublishedTable) -> Plan:
    """What a publication of the table has to do, by one consistent view of the warehouse."""
    state = opened.state
    stored = [] if state.complete is not None else stored_months(connection, sql, table)
    changes = changes_of(sql, connection, table, state, stored)
    if changes is None:
        version = changes_since(sql, connection, table.name, 0).version
        # Months that this warehouse does not have are published without rows.
        held = {*stored_months(connection, sql, table), *(file.month for file in opened.files)}
        return Plan(state.epoch + 1, tuple(sorted(held)) or (WHOLE,), version, state.epoch > 0, state)
    months = state.behind(sorted({*stored, *changes.months}), changes)
    return Plan(state.epoch, tuple(months), changes.version, False, state)


def changes_of(
    sql: Sql, connection: Connection, table: Table, state: Published, months: Sequence[str] = ()
) -> MonthChanges | None:
    """What changed since the publication; None where the lake's table was not made from the history of this
    warehouse (another one, a restored one), or that history has a change of unknown months. `months` are
    those that matter while the first publication is not finished."""
    if not state.epoch or batch_number(batch_at(sql, connection, table.name, state.version)) != state.batch:
        return None
    changes = changes_since(sql, connection, table.name, state.since(months))
    return changes if changes.complete and changes.version >= state.version else None
