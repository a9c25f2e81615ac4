"""Reads of declared tables: current rows, or the rows that were valid at an instant (`as_of`).

`as_of` is local exchange time as ISO text with microseconds. Only fused (DWD) tables keep versions;
`as_of` on another layer is an error of the caller. The plain read never touches the history.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sqlalchemy.engine import Connection

from core.declaration.frames import coerce
from core.declaration.tables import Table
from core.errors import InputError
from resources.warehouse.failures import storage_error
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql, marks

_CHUNK = 20_000
_SHARED_TEXTS = 100_000


def fetch_plain(connection: Connection, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Every row as the driver's own tuple; wrapping each one costs as much as reading it."""
    result = connection.exec_driver_sql(statement, tuple(values))
    try:
        return list(result.cursor.fetchall())
    except connection.dialect.loaded_dbapi.Error as error:
        raise storage_error(error) from error
    finally:
        result.close()


def source_of(table: Table, columns: Sequence[str], where: str, *, as_of: bool, sql: Sql) -> str:
    """SELECT over current rows, or over current and superseded rows valid at a bound instant.

    `where` holds conditions with `?` marks ('' for none). With `as_of` the caller binds, in this order:
    values of `where`, as_of, values of `where`, as_of, as_of.
    """
    names = sql.names(columns)
    base = f"SELECT {names} FROM {sql.name(table.name)}"
    if not as_of:
        return base + (f" WHERE {where}" if where else "")
    if not table.has_history:
        raise InputError("as_of", f"{table.name} keeps no versions")
    both = f"{where} AND " if where else ""
    return (
        f"{base} WHERE {both}valid_from<=? UNION ALL "
        f"SELECT {names} FROM {sql.name(table.history_name)} WHERE {both}valid_from<=? AND valid_to>?"
    )


def select_rows(
    connection: Connection,
    sql: Sql,
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    where: str = "",
    values: Sequence[Any] = (),
    as_of: str | None = None,
    order: str = "",
    limit: int | None = None,
    offset: int = 0,
) -> list[tuple[Any, ...]]:
    """Rows as tuples. `where` and `order` are written by us (identifiers), never by a request; a
    request's values are bound."""
    names = tuple(columns or table.names)
    statement = source_of(table, names, where, as_of=as_of is not None, sql=sql)
    bound = [*values] if as_of is None else [*values, as_of, *values, as_of, as_of]
    if order:
        # Ordered outside the union, on both engines alike.
        statement = (
            f"SELECT * FROM ({statement}) AS t ORDER BY {order}" if as_of else f"{statement} ORDER BY {order}"
        )
    if limit is not None:
        statement += f" LIMIT {int(limit)} OFFSET {int(offset)}"
    return fetch_plain(connection, sql.text(statement), bound)


def select_dicts(connection: Connection, sql: Sql, table: Table, **how: Any) -> list[dict[str, Any]]:
    """`select_rows` as dictionaries; flags become bool, JSON stays text."""
    names = tuple(how.get("columns") or table.names)
    flags = {spec.name for spec in table.all_columns if spec.family == "bool"}
    found = select_rows(connection, sql, table, **how)
    return [_named(names, row, flags) for row in found]


def _named(names: Sequence[str], row: Sequence[Any], flags: set[str]) -> dict[str, Any]:
    record: dict[str, Any] = dict(zip(names, row, strict=True))
    for name in flags & record.keys():
        if record[name] is not None:
            record[name] = bool(record[name])
    return record


def select_frame(
    connection: Connection,
    sql: Sql,
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    where: Slice | None = None,
    extra: str = "",
    extra_values: Sequence[Any] = (),
    as_of: str | None = None,
) -> pd.DataFrame:
    """A coerced frame of the slice. `extra` adds a condition with bound values."""
    names = tuple(columns or table.names)
    specs = [table.column(name) for name in names]
    built = [_Column(spec.family in ("float", "int", "bool")) for spec in specs]
    part = where or Slice()
    if as_of is None:
        part = along_the_key(connection, sql, table, part)
    for clause, values in part.clauses():
        condition = clause.removeprefix(" WHERE ")
        joined = " AND ".join(item for item in (condition, extra) if item)
        statement = source_of(table, names, joined, as_of=as_of is not None, sql=sql)
        own = (*values, *extra_values)
        bound = own if as_of is None else (*own, as_of, *own, as_of, as_of)
        for chunk in row_chunks(connection, sql.text(statement), bound):
            for column, received in zip(built, zip(*chunk, strict=True), strict=True):
                column.add(received)
    raw = pd.DataFrame({name: column.series() for name, column in zip(names, built, strict=True)})
    return coerce(raw, specs)[0]


def stream_rows(
    connection: Connection,
    sql: Sql,
    table: Table,
    columns: Sequence[str],
    where: Slice,
    *,
    as_of: str | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Rows of the slice in the order of the key, as they are stored, without holding them all: a server
    sends them while they are read. Codes in parts of a statement each follow one another."""
    streaming = connection.execution_options(stream_results=True)
    order = ", ".join(sql.name(name) for name in table.key)
    names = tuple(dict.fromkeys((*columns, *table.key)))
    for clause, values in where.clauses():
        source = source_of(table, names, clause.removeprefix(" WHERE "), as_of=as_of is not None, sql=sql)
        bound = values if as_of is None else (*values, as_of, *values, as_of, as_of)
        statement = sql.text(f"SELECT * FROM ({source}) AS t ORDER BY {order}")
        # Not from the driver's cursor: SQLAlchemy has taken the first rows of a streamed result from it.
        for rows in streaming.exec_driver_sql(statement, bound).partitions(_CHUNK):
            yield from (tuple(row[: len(columns)]) for row in rows)


def along_the_key(connection: Connection, sql: Sql, table: Table, where: Slice) -> Slice:
    """A window of several dates over all codes, with the codes named. SQLite's planner takes the date index
    for it and fetches every row singly: eleven times the work of walking the clustered key per code."""
    is_window = where.date_column is not None and where.codes is None and where.since != where.until
    if not (sql.sqlite and is_window and table.key == ("code", where.date_column)):
        return where
    name = sql.name(table.name)
    listed = fetch_plain(connection, codes_along_key(name))
    return replace(where, codes=tuple(row[0] for row in listed))


def codes_along_key(name: str) -> str:
    """A SELECT of the codes of a series. min() after min(): a few steps per code, where DISTINCT would walk a
    whole index."""
    return (
        f"WITH RECURSIVE c(code) AS (SELECT min(code) FROM {name} UNION ALL SELECT "
        f"(SELECT min(code) FROM {name} WHERE code > c.code) FROM c WHERE c.code IS NOT NULL) "
        "SELECT code FROM c WHERE code IS NOT NULL"
    )


class _Column:
    """One column of a result while it arrives: numbers as float64, texts as one object per value."""

    def __init__(self, is_number: bool) -> None:
        self._is_number = is_number
        self._parts: list[npt.NDArray[Any]] = []
        self._known: dict[Any, Any] = {}

    def add(self, values: tuple[Any, ...]) -> None:
        if self._is_number:
            self._parts.append(np.array(values, dtype=np.float64))
            return
        # Codes, dates and names repeat: a year of the market would hold each of them a thousand times.
        share = self._known.setdefault
        texts = np.empty(len(values), dtype=object)
        texts[:] = [share(value, value) for value in values]
        self._parts.append(texts)
        if len(self._known) > _SHARED_TEXTS:
            self._known.clear()

    def series(self) -> pd.Series:
        kind = np.float64 if self._is_number else object
        joined = np.concatenate(self._parts) if self._parts else np.empty(0, dtype=kind)
        self._parts.clear()
        return pd.Series(joined, dtype=kind)


def row_chunks(
    connection: Connection, statement: str, values: Sequence[Any]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yields the rows of a statement, 20,000 at a time. Raises StorageError."""
    result = connection.exec_driver_sql(statement, tuple(values))
    try:
        while chunk := result.cursor.fetchmany(_CHUNK):
            yield list(chunk)
    except connection.dialect.loaded_dbapi.Error as error:
        raise storage_error(error) from error
    finally:
        result.close()


def expand_provenance(connection: Connection, sql: Sql, ids: set[int]) -> Mapping[int, str]:
    """Pattern JSON of the given ids."""
    if not ids:
        return {}
    found = sql.run(
        connection, f"SELECT id, pattern FROM sys_provenance WHERE id IN ({marks(ids)})", tuple(ids)
    )
    return {int(row[0]): str(row[1]) for row in found}
