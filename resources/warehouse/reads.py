"""Reads of declared tables: current rows, or the rows that were valid at an instant (`as_of`).

`as_of` is local exchange time as ISO text with microseconds. Only fused (DWD) tables keep versions;
`as_of` on another layer is an error of the caller. The plain read never touches the history.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
import sqlalchemy as sa
from sqlalchemy.engine import Connection, CursorResult

from core.declaration.frames import coerce
from core.declaration.tables import Table, history_of
from core.errors import InputError
from resources.warehouse.failures import storage_error
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, Order, Where, select

_CHUNK = 20_000
_SHARED_TEXTS = 100_000


Statement = sa.Select[Any] | sa.CompoundSelect[Any]


class Selection(TypedDict, total=False):
    """Which part of the rows a read gives. `values`: those of the bound parameters in the conditions; a
    statement with them is built once for the same objects of conditions and order."""

    columns: Sequence[str] | None
    as_of: str | None
    order: Sequence[Order | str]
    limit: int | None
    offset: int
    values: Mapping[str, Any] | None


def driver_rows(result: CursorResult[Any]) -> list[tuple[Any, ...]]:
    """Every row as the driver's own tuple; wrapping each one costs as much as reading it."""
    try:
        return list(result.cursor.fetchall())
    except result.dialect.loaded_dbapi.Error as error:
        raise storage_error(error) from error
    finally:
        result.close()


@lru_cache(maxsize=1024)
def _columns(table: str, names: tuple[str, ...]) -> sa.Select[Any]:
    return select(table, *map(sa.column, names))


def source_of(
    table: Table, columns: Sequence[str], where: Sequence[Where], *, as_of: str | None
) -> Statement:
    """SELECT over current rows, or over current and superseded rows valid at an instant."""
    return _source(table.name, table.has_history, tuple(columns), where, as_of)


def _source(
    name: str, has_history: bool, columns: tuple[str, ...], where: Sequence[Where],
    as_of: str | sa.BindParameter[str] | None,
) -> Statement:  # fmt: skip
    current = _columns(name, columns).where(*where)
    if as_of is None:
        return current
    if not has_history:
        raise InputError("as_of", f"{name} keeps no versions")
    return sa.union_all(
        current.where(ANY.valid_from <= as_of),
        _columns(history_of(name), columns).where(*where, ANY.valid_from <= as_of, ANY.valid_to > as_of),
    )


def all_of(source: sa.SelectBase) -> sa.Select[Any]:
    """The rows of a SELECT, to be ordered or ranked outside of its union, on both engines alike."""
    return sa.select(sa.literal_column("*")).select_from(source.subquery("t"))


_AS_OF = sa.bindparam("as_of", type_=sa.String)


def _statement(
    name: str, has_history: bool, columns: tuple[str, ...], where: tuple[Where, ...], as_of: bool,
    order: tuple[Order | str, ...], limit: int | None, offset: int,
) -> Statement:  # fmt: skip
    statement = _source(name, has_history, columns, where, _AS_OF if as_of else None)
    if order:
        statement = all_of(statement) if as_of else statement
        statement = statement.order_by(*(ANY[by] if isinstance(by, str) else by for by in order))
    return statement if limit is None else statement.limit(limit).offset(offset)


_prepared = lru_cache(maxsize=256)(_statement)


def selection(
    table: Table, *where: Where, columns: Sequence[str] | None = None, as_of: str | None = None,
    order: Sequence[Order | str] = (), limit: int | None = None, offset: int = 0,
    values: Mapping[str, Any] | None = None,
) -> tuple[Statement, dict[str, Any]]:  # fmt: skip
    """(the statement of a read, the values of its parameters). Strings of `order` are names of columns."""
    build = _statement if values is None else _prepared
    names = tuple(columns or table.names)
    statement = build(
        table.name, table.has_history, names, where, as_of is not None, tuple(order), limit, offset
    )
    return statement, {**(values or {}), **({} if as_of is None else {"as_of": as_of})}


def select_rows(
    connection: Connection, table: Table, *where: Where, **how: Unpack[Selection]
) -> list[tuple[Any, ...]]:
    """Rows as tuples."""
    return driver_rows(connection.execute(*selection(table, *where, **how)))


def select_dicts(
    connection: Connection, table: Table, *where: Where, **how: Unpack[Selection]
) -> list[dict[str, Any]]:
    """`select_rows` as dictionaries; flags become bool, JSON stays text."""
    return as_dicts(table, how.get("columns"), select_rows(connection, table, *where, **how))


def as_dicts(
    table: Table, columns: Sequence[str] | None, rows: Sequence[tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """Rows of these columns (None: all) as dictionaries; flags become bool."""
    names = tuple(columns or table.names)
    flags = {spec.name for spec in table.all_columns if spec.family == "bool"}
    return [_named(names, row, flags) for row in rows]


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
    as_of: str | None = None,
) -> pd.DataFrame:
    """A coerced frame of the slice."""
    names = tuple(columns or table.names)
    specs = [table.column(name) for name in names]
    built = [_Column(spec.family in ("float", "int", "bool")) for spec in specs]
    part = where or Slice()
    if as_of is None:
        part = along_the_key(connection, sql, table, part)
    for conditions in part.conditions():
        statement = source_of(table, names, conditions, as_of=as_of)
        for chunk in row_chunks(connection.execute(statement)):
            for column, received in zip(built, zip(*chunk, strict=True), strict=True):
                column.add(received)
    raw = pd.DataFrame({name: column.series() for name, column in zip(names, built, strict=True)})
    return coerce(raw, specs)[0]


def stream_rows(
    connection: Connection,
    table: Table,
    columns: Sequence[str],
    where: Slice,
    *,
    as_of: str | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Rows of the slice in the order of the key, as they are stored, without holding them all: a server
    sends them while they are read. Codes in parts of a statement each follow one another."""
    streaming = connection.execution_options(stream_results=True)
    names = tuple(dict.fromkeys((*columns, *table.key)))
    for conditions in where.conditions():
        statement = all_of(source_of(table, names, conditions, as_of=as_of))
        ordered = statement.order_by(*(ANY[name] for name in table.key))
        # Not from the driver's cursor: SQLAlchemy has taken the first rows of a streamed result from it.
        for rows in streaming.execute(ordered).partitions(_CHUNK):
            yield from (tuple(row[: len(columns)]) for row in rows)


def along_the_key(connection: Connection, sql: Sql, table: Table, where: Slice) -> Slice:
    """A window of several dates over all codes, with the codes named. SQLite's planner takes the date index
    for it and fetches every row singly: eleven times the work of walking the clustered key per code."""
    is_window = where.date_column is not None and where.codes is None and where.since != where.until
    if not (sql.sqlite and is_window and table.key == ("code", where.date_column)):
        return where
    name = sql.name(table.name)
    listed = driver_rows(connection.exec_driver_sql(codes_along_key(name)))
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


def row_chunks(result: CursorResult[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Yields the rows of a result, 20,000 at a time. Raises StorageError."""
    try:
        while chunk := result.cursor.fetchmany(_CHUNK):
            yield list(chunk)
    except result.dialect.loaded_dbapi.Error as error:
        raise storage_error(error) from error
    finally:
        result.close()


def expand_provenance(connection: Connection, ids: set[int]) -> Mapping[int, str]:
    """Pattern JSON of the given ids."""
    if not ids:
        return {}
    statement = _columns("sys_provenance", ("id", "pattern")).where(ANY.id.in_(ids))
    return {int(number): str(pattern) for number, pattern in connection.execute(statement)}
