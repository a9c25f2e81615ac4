"""What must hold of a warehouse whatever instant its writer was killed at.

Written against declared tables in general: the writer's own test and the test of whole Dagster runs ask
the same questions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from sqlalchemy.engine import Connection

from core.declaration.tables import Layer, Table
from resources.warehouse.engine import is_sqlite, transaction
from resources.warehouse.warehouse import Warehouse

LAYERS = (Layer.RAW, Layer.STG, Layer.DWD, Layer.CALC, Layer.REF)


@contextmanager
def settled(warehouse: Warehouse, table: Table) -> Iterator[Connection]:
    """One view of the table in which no other transaction is at work on it. A server may still be ending
    the transaction of a client that is dead already; the version row is what every write holds."""
    with transaction(warehouse.engine) as connection:
        lock = "" if is_sqlite(warehouse.engine) else " FOR UPDATE"
        connection.exec_driver_sql(
            warehouse.sql.text(f"SELECT version FROM table_version WHERE table_name=?{lock}"), (table.name,)
        ).all()
        yield connection


def problems(warehouse: Warehouse, table: Table) -> list[str]:
    """One line per thing that is torn; none for a table that is one committed state."""
    with settled(warehouse, table) as connection:

        def ask(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            found = connection.exec_driver_sql(warehouse.sql.text(statement), values)
            return [tuple(row) for row in found]

        found = [*_counters(ask, table), *_batches(ask, table), *_children(ask, table)]
        if table.has_history:
            found += _chain(ask, table)
    return found


def _counters(ask: Any, table: Table) -> Iterator[str]:
    changed = "imported_at" if table.layer in (Layer.RAW, Layer.STG) else "updated_at"
    rows, newest = ask(f"SELECT COUNT(*), MAX({changed}) FROM {table.name}")[0]
    counted, stamped, version, batch = ask(
        "SELECT row_count, updated_at, version, last_batch_id FROM table_version WHERE table_name=?",
        table.name,
    )[0]
    if counted != rows:
        yield f"{table.name}: row_count {counted}, COUNT(*) {rows}"
    if stamped != newest:
        yield f"{table.name}: updated_at {stamped}, MAX({changed}) {newest}"
    moved = ask(
        "SELECT COUNT(*) FROM sys_batch WHERE table_name=? AND status='success' AND rows_written>0 "
        "AND content_hash IS NOT NULL",
        table.name,
    )[0][0]
    # A table that replaces slices may also move by rows that went.
    if version < moved or (table.has_history and version != moved):
        yield f"{table.name}: version {version}, batches that changed rows {moved}"
    if batch is not None and not ask("SELECT 1 FROM sys_batch WHERE batch_id=?", batch):
        yield f"{table.name}: last_batch_id {batch} has no batch row"


def _batches(ask: Any, table: Table) -> Iterator[str]:
    """Every row version belongs to a batch that committed, and every batch has all of its rows."""
    versions = f"SELECT batch_id FROM {table.name}"
    if table.has_history:
        versions += f" UNION ALL SELECT batch_id FROM {table.history_name}"
    owned = dict(ask(f"SELECT batch_id, COUNT(*) FROM ({versions}) AS t GROUP BY batch_id"))
    writes = ask(
        "SELECT batch_id, status, rows_written, rows_superseded, rows_ok+rows_warning, "
        "rows_written+rows_unchanged FROM sys_batch WHERE table_name=? AND content_hash IS NOT NULL",
        table.name,
    )
    for batch, status, written, _, passed, handled in writes:
        if status != "success" or passed != handled:
            yield f"{table.name}: batch {batch} is {status}, {passed} rows passed, {handled} handled"
        # Only tables with versions keep a row that a later batch replaced.
        if table.has_history and owned.get(batch, 0) != written:
            yield f"{table.name}: batch {batch} wrote {written} rows, {owned.get(batch, 0)} are there"
    if strangers := set(owned) - {row[0] for row in writes}:
        yield f"{table.name}: rows of batches that never committed: {sorted(map(str, strangers))}"
    if table.has_history:
        kept = ask(f"SELECT COUNT(*) FROM {table.history_name}")[0][0]
        if kept != sum(row[3] for row in writes):
            yield f"{table.name}: {kept} superseded rows, the batches say {sum(row[3] for row in writes)}"


def _children(ask: Any, table: Table) -> Iterator[str]:
    """Quality records, fetches and provenance patterns came with a batch or not at all."""
    for name in ("sys_quality_record", "sys_fetch"):
        lost = ask(
            f"SELECT COUNT(*) FROM {name} AS c LEFT JOIN sys_batch AS b ON b.batch_id=c.batch_id "
            "WHERE b.batch_id IS NULL"
        )[0][0]
        if lost:
            yield f"{name}: {lost} rows without their batch"
    if any(spec.name == "provenance" for spec in table.all_columns):
        lost = ask(
            f"SELECT COUNT(*) FROM {table.name} AS c LEFT JOIN sys_provenance AS p ON p.id=c.provenance "
            "WHERE c.provenance IS NOT NULL AND p.id IS NULL"
        )[0][0]
        if lost:
            yield f"{table.name}: {lost} rows whose provenance pattern is not stored"


def _chain(ask: Any, table: Table) -> Iterator[str]:
    """Versions of a key: each ends where the next begins, the newest is the current row."""
    key = ", ".join(table.key)
    width = len(table.key)
    rows = ask(
        f"SELECT {key}, valid_from, valid_to, superseded_by FROM {table.history_name} "
        f"UNION ALL SELECT {key}, valid_from, '9', batch_id FROM {table.name}"
    )
    rows.sort(key=lambda row: (*map(str, row[:width]), row[width], row[width + 1]))
    broken = 0
    for before, after in pairwise(rows):
        same = before[:width] == after[:width]
        if same and before[width + 1] != after[width]:
            broken += 1
        if not same and before[width + 1] != "9":
            broken += 1
    if rows and rows[-1][width + 1] != "9":
        broken += 1
    if broken:
        yield f"{table.name}: {broken} breaks in the history chain"


def content(warehouse: Warehouse, table: Table, *, history: bool = False) -> list[tuple[Any, ...]]:
    """Rows without what differs between two executions of the same work: batches and times of storing."""
    apart = {"batch_id", "imported_at", "created_at", "updated_at", "payload"}
    names = [name for name in table.names if name not in apart]
    source = table.name
    if history:
        names, source = [*names, "valid_to"], table.history_name
    with settled(warehouse, table) as connection:
        found = connection.exec_driver_sql(f"SELECT {warehouse.sql.names(names)} FROM {source}")
        return sorted((tuple(row) for row in found), key=str)
