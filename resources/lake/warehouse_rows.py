"""Rows of the warehouse in the form in which they are published."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.declaration.tables import WHOLE, Table
from resources.lake.schema import (
    CURRENT,
    MONTH,
    PROVENANCE,
    STILL_VALID,
    VALID_TO,
    lake_schema,
    row_schema,
    sort_key,
)
from resources.warehouse.reads import along_the_key, expand_provenance, row_chunks
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, select
from resources.warehouse.warehouse import Warehouse


@contextmanager
def consistent(warehouse: Warehouse) -> Iterator[Connection]:
    """A connection whose statements all see the same rows."""
    with warehouse.connect() as connection:
        if not warehouse.sqlite:
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


def month_slice(table: Table, month: str) -> Slice:
    """The rows that are published in a month."""
    if month == WHOLE:
        return Slice()
    year, number = int(month[:4]), int(month[5:7])
    last = date.fromordinal(date(year + number // 12, number % 12 + 1, 1).toordinal() - 1).isoformat()
    timed = table.column(str(table.month_column)).family == "time"
    until = f"{last} 23:59:59.999999" if timed else last
    return Slice(date_column=table.month_column, since=f"{month}-01", until=until)


def stored_months(connection: Connection, sql: Sql, table: Table) -> list[str]:
    """Months in which the warehouse has rows, current or superseded ones."""
    if table.month_column is None:
        return [WHOLE]
    names = [table.name, *([table.history_name] if table.has_history else [])]
    column = ANY[table.month_column]
    text = sa.func.substr(column, 1, 7) if sql.sqlite else sa.func.date_format(column, "%Y-%m")
    found: set[str] = set()
    for name in names:
        months = connection.execute(select(name, text).distinct())
        found |= {str(month) for (month,) in months}
    return sorted(found)


def month_rows(connection: Connection, sql: Sql, table: Table, month: str) -> pa.Table:
    """The rows of one month in the published form and order: `lake_schema` without the columns that the
    partition gives, current and superseded ones distinguished by `valid_to`."""
    part = month_slice(table, month)
    parts = [_selected(connection, table, along_the_key(connection, sql, table, part), history=False)]
    if table.has_history:
        parts.append(_selected(connection, table, part, history=True))
    return pa.concat_tables(parts).combine_chunks().sort_by(sort_key(table))


def window_rows(
    connection: Connection,
    sql: Sql,
    table: Table,
    where: Slice,
    *,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Current rows of a slice, or those that were valid at `as_of`, in the published form (of some columns),
    in no order."""
    how: dict[str, Any] = {"as_of": as_of, "columns": columns}
    if as_of is None:
        where = along_the_key(connection, sql, table, where)
        return _selected(connection, table, where, history=False, **how)
    parts = [_selected(connection, table, where, history=history, **how) for history in (False, True)]
    return pa.concat_tables(parts)


def with_partitions(table: Table, rows: pa.Table, month: str) -> pa.Table:
    """The same rows with the partition columns, ready to be written."""
    if table.month_column is not None:
        rows = rows.append_column(MONTH, pa.repeat(pa.scalar(month), len(rows)))
    if table.has_history:
        rows = rows.append_column(
            CURRENT, pc.equal(rows[VALID_TO], pa.scalar(STILL_VALID, pa.timestamp("us")))
        )
    return rows.cast(lake_schema(table))


def _selected(
    connection: Connection,
    table: Table,
    where: Slice,
    *,
    history: bool,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    schema = row_schema(table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    stored = [*table.names, *([VALID_TO, "superseded_by"] if history else [])]
    stored = [name for name in stored if name in schema.names]
    source = (
        sa.select()
        .add_columns(*map(sa.column, stored))
        .select_from(sa.table(table.history_name if history else table.name))
    )
    if as_of is not None:
        source = source.where(ANY.valid_from <= as_of, *([ANY.valid_to > as_of] if history else []))
    parts = [schema.empty_table()]
    for conditions in where.conditions():
        for chunk in row_chunks(connection.execute(source.where(*conditions))):
            parts.append(_arrow(connection, schema, stored, chunk))
    return pa.concat_tables(parts)


def _arrow(connection: Connection, schema: pa.Schema, stored: Sequence[str], rows: list[Any]) -> pa.Table:
    received = dict(zip(stored, zip(*rows, strict=True), strict=True))
    if PROVENANCE in schema.names:
        ids = received[PROVENANCE]
        known = expand_provenance(connection, {int(one) for one in ids if one is not None})
        received[PROVENANCE] = tuple(None if one is None else known[int(one)] for one in ids)
    columns = []
    for field in schema:
        if field.name not in received:  # of a current row: it has not been superseded
            ends = field.name == VALID_TO
            columns.append(pa.repeat(pa.scalar(STILL_VALID if ends else None, field.type), len(rows)))
            continue
        columns.append(arrow_column(received[field.name], field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def arrow_column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Dates and times arrive as ISO text, flags as 0 and 1."""
    if pa.types.is_temporal(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_boolean(kind):
        return pa.array(values, pa.int8()).cast(kind)
    return pa.array(values, kind)
