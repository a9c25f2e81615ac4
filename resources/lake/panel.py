"""A market window as dense arrays, from the lake where its months are current, else from the warehouse.

Two passes over each file: first codes and dates, which give the axes, then column by column straight into
the arrays. Only one month is held beside the arrays at a time.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import reduce
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlalchemy.engine import Connection

from core.arrays import Floats
from core.days import moved
from core.declaration.conditions import Condition
from core.declaration.tables import Table
from core.errors import InputError, StorageError
from resources.lake.location import LakeFile, PublishedTable, lake_failures, lake_of
from resources.lake.old_years import old_years
from resources.lake.reading import LakeReader, month_window, months_behind, months_between
from resources.lake.schema import VALID_FROM, VALID_TO, instant_of
from resources.lake.warehouse_rows import consistent, window_rows
from resources.warehouse.panel import Days, Panel, code_blocks, day_of, iso_days, series_of
from resources.warehouse.panel import read_panel as warehouse_panel
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse

log = logging.getLogger(__name__)
Places = npt.NDArray[np.int32]


def read_panel(
    warehouse: Warehouse,
    name: str,
    columns: Sequence[str],
    *,
    since: str,
    until: str,
    conditions: Sequence[Condition] = (),
    as_of: str | datetime | None = None,
) -> Panel:
    """Rows of `name` with since <= date <= until that meet the conditions: current ones, or those that were
    valid at `as_of`. The answer is the warehouse's, whether or not the lake has it.

    Raises InputError for a table without (code, date) key, a column that holds no numbers, and `as_of` of a
    table that keeps no versions.
    """
    table = series_of(warehouse, name, columns)
    if as_of is not None and not table.has_history:
        raise InputError("as_of", f"{name} keeps no versions")
    asked = _Asked(table, tuple(columns), since, until, tuple(conditions), as_of)
    old = _of_old_years(warehouse, asked)
    if old:
        asked = replace(asked, since=moved(min(until, old[0].until), 1))
        if asked.since > until:
            return _assembled(old, asked.columns)
    try:
        opened = _published(warehouse, asked)
        if opened is not None:
            pieces = _pieces(warehouse, opened, asked)
            if pieces is not None:
                with lake_failures(f"the lake's table {name} cannot be read"):
                    return _assembled([*old, *pieces], asked.columns)
    except StorageError as error:
        log.warning("%s is read from the warehouse: %s", name, error.message)
    if as_of is None and not old:
        return warehouse_panel(warehouse, name, columns, since=since, until=until, conditions=conditions)
    with consistent(warehouse) as connection:
        stored = _stored(warehouse, connection, asked, asked.since, until)
        return _assembled([*old, stored], asked.columns)


@dataclass(frozen=True)
class _Asked:
    table: Table
    columns: tuple[str, ...]
    since: str
    until: str
    conditions: tuple[Condition, ...]
    as_of: str | datetime | None

    @property
    def day(self) -> str:
        return str(self.table.date_column)

    @property
    def filtered_by(self) -> list[str]:
        """Columns that decide whether a row is part of the window."""
        validity = [] if self.as_of is None else [VALID_FROM, VALID_TO]
        return [*dict.fromkeys(one.column for one in self.conditions), *validity]

    def mask(self, rows: pa.Table) -> Any:
        """Which rows are part of the window; None for all."""
        days = rows[self.day]
        first, last = date.fromisoformat(self.since), date.fromisoformat(self.until)
        parts = []
        if len(days) and pc.min(days).as_py() < first:
            parts.append(pc.greater_equal(days, pa.scalar(first)))
        if len(days) and pc.max(days).as_py() > last:
            parts.append(pc.less_equal(days, pa.scalar(last)))
        parts += [_meets(rows[one.column], one) for one in self.conditions]
        if self.as_of is not None:
            instant = pa.scalar(instant_of(self.as_of), pa.timestamp("us"))
            parts.append(pc.less_equal(rows[VALID_FROM], instant))
            parts.append(pc.greater(rows[VALID_TO], instant))
        return pc.fill_null(reduce(pc.and_kleene, parts), False).to_numpy() if parts else None


def _meets(values: pa.ChunkedArray, one: Condition) -> pa.ChunkedArray:
    kind = values.type
    if one.sign == "known":
        return pc.is_valid(values)
    if one.sign == "not set":
        return pc.invert(pc.fill_null(values, False))
    if one.sign == "in":
        texts = pa.array(one.value, pa.string())
        return pc.is_in(values, value_set=texts.cast(kind) if kind != pa.string() else texts)
    bound = pa.scalar(bool(one.value) if pa.types.is_boolean(kind) else one.value)
    return pc.equal(values, bound) if one.sign == "=" else pc.greater(values, bound)


class _Piece(Protocol):
    """Rows of a part of the window: row i is of code `codes[code_at[i]]` on `days[i]` (since 1970)."""

    codes: Sequence[str]
    code_at: Places
    days: Days

    def numbers(self, columns: Sequence[str]) -> Iterator[tuple[str, Floats]]:
        """(column, its values by row), NaN for null."""
        ...


class _FilePiece:
    """The rows of one file of the lake."""

    def __init__(self, opened: PublishedTable, file: LakeFile, asked: _Asked) -> None:
        self._file = pq.ParquetFile(
            opened.filesystem.open_input_file(file.path), read_dictionary=["code"], pre_buffer=True
        )
        read = list(dict.fromkeys(["code", asked.day, *asked.filtered_by]))
        rows = self._file.read(columns=read)
        self._kept: npt.NDArray[np.bool_] | None = asked.mask(rows)
        codes = rows["code"].unify_dictionaries()
        chunks = codes.chunks
        self.codes: Sequence[str] = chunks[0].dictionary.to_pylist() if chunks else []
        self.code_at = self._of_window(
            np.concatenate([np.zeros(0, np.int32), *(chunk.indices.to_numpy() for chunk in chunks)])
        ).astype(np.int32)
        self.days = self._of_window(rows[asked.day].cast(pa.int32()).to_numpy())

    def _of_window(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if self._kept is None else values[self._kept]

    def numbers(self, columns: Sequence[str]) -> Iterator[tuple[str, Floats]]:
        rows = self._file.read(columns=list(columns))
        self._file.close()
        for name in columns:
            yield name, self._of_window(_floats(rows[name]))


class _RowsPiece:
    """Rows of the warehouse in the published form."""

    def __init__(self, rows: pa.Table, asked: _Asked) -> None:
        self.until = asked.until
        kept = asked.mask(rows)
        self._rows = rows if kept is None else rows.filter(pa.array(kept))
        coded = self._rows["code"].combine_chunks().dictionary_encode()
        self.codes: Sequence[str] = coded.dictionary.to_pylist()
        self.code_at = coded.indices.to_numpy().astype(np.int32)
        self.days = self._rows[asked.day].cast(pa.int32()).to_numpy()

    def numbers(self, columns: Sequence[str]) -> Iterator[tuple[str, Floats]]:
        for name in columns:
            yield name, _floats(self._rows[name])


class _BlocksPiece:
    """Blocks of the warehouse's own panel: one per code, day numbers in the first column."""

    def __init__(self, codes: Sequence[str], blocks: Sequence[Floats], columns: Sequence[str]) -> None:
        self.codes = codes
        self.code_at = np.repeat(np.arange(len(codes), dtype=np.int32), [len(block) for block in blocks])
        self._values = np.concatenate(blocks) if blocks else np.empty((0, len(columns) + 1))
        self._columns = tuple(columns)
        self.days = day_of(self._values[:, 0])

    def numbers(self, columns: Sequence[str]) -> Iterator[tuple[str, Floats]]:
        for name in columns:
            yield name, self._values[:, 1 + self._columns.index(name)]


def _floats(values: pa.ChunkedArray) -> Floats:
    if values.type != pa.float64():
        values = (values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values).cast(
            pa.float64(), safe=False
        )
    found: Floats = values.to_numpy()
    return found


def _of_old_years(warehouse: Warehouse, asked: _Asked) -> list[_RowsPiece]:
    """The rows of the window up to the last day that column files have, those of the warehouse included."""
    lake = lake_of(warehouse)
    old = old_years(lake, asked.table.name)
    if lake is None or old is None or not old.reaches(asked.since):
        return []
    part = replace(asked, until=min(asked.until, str(old.last)))
    columns = list(dict.fromkeys(["code", asked.day, *asked.columns, *asked.filtered_by]))
    rows = LakeReader(warehouse, lake).read(
        asked.table.name, columns=columns, since=part.since, until=part.until, as_of=asked.as_of
    )
    return [_RowsPiece(rows, replace(part, as_of=None))]


def _published(warehouse: Warehouse, asked: _Asked) -> PublishedTable | None:
    """The snapshot to read, if the table is published with all of the columns."""
    lake = lake_of(warehouse)
    if lake is None or not lake.has(asked.table.name):
        return None
    opened = lake.table(asked.table.name)
    needed = {*asked.columns, *asked.filtered_by, asked.day, "code"}
    return opened if needed <= set(opened.schema.names) else None


def _pieces(warehouse: Warehouse, opened: PublishedTable, asked: _Asked) -> list[_Piece] | None:
    """The parts of the window: a file for a current month, rows of the warehouse for one that is behind.
    None when nothing of the lake can be used."""
    pieces: list[_Piece] = []
    with consistent(warehouse) as connection:
        behind = months_behind(warehouse.sql, connection, asked.table, opened, asked.since, asked.until)
        if behind is None:
            return None
        for first, last in _stretches(asked, behind):
            pieces.append(_stored(warehouse, connection, asked, first, last))
    current = sorted(set(months_between(asked.since, asked.until)) - set(behind))
    files = opened.of_months(current, current=True if asked.as_of is None else None)
    with lake_failures(f"the lake's table {opened.name} cannot be read"):
        pieces += [_FilePiece(opened, file, asked) for file in files]
    return pieces


def _stretches(asked: _Asked, months: Sequence[str]) -> list[tuple[str, str]]:
    """(first, last day) of the months that are behind, neighbours as one read."""
    found: list[tuple[str, str]] = []
    for month in months:
        first, last = month_window(asked.table, month, asked.since, asked.until)
        if found and months_between(found[-1][1], first)[1:2] == [month]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _stored(warehouse: Warehouse, connection: Connection, asked: _Asked, since: str, until: str) -> _Piece:
    """Rows of the warehouse between two days."""
    if asked.as_of is not None:
        return _stored_rows(warehouse, connection, asked, since, until)
    blocks = code_blocks(connection, asked.table, asked.columns, since, until, asked.conditions)
    return _BlocksPiece(*blocks, asked.columns)


def _stored_rows(
    warehouse: Warehouse, connection: Connection, asked: _Asked, since: str, until: str
) -> _Piece:
    instant = None if asked.as_of is None else instant_of(asked.as_of).strftime("%Y-%m-%d %H:%M:%S.%f")
    rows = window_rows(
        connection, warehouse.sql, asked.table, Slice(asked.day, since, until), as_of=instant,
        columns=tuple(dict.fromkeys(["code", asked.day, *asked.columns, *asked.filtered_by])),
    )  # fmt: skip
    return _RowsPiece(rows, asked)


def _assembled(pieces: Sequence[_Piece], columns: Sequence[str]) -> Panel:
    """The arrays [codes, dates]; what no piece has a row of is NaN."""
    used = [np.unique(piece.code_at) for piece in pieces]
    codes = sorted({piece.codes[at] for piece, places in zip(pieces, used, strict=True) for at in places})
    place = {code: at for at, code in enumerate(codes)}
    days = np.unique(np.concatenate([np.zeros(0, np.int32), *(np.unique(piece.days) for piece in pieces)]))
    values = {name: np.full((len(codes), len(days)), np.nan) for name in columns}
    for piece in pieces:
        if not len(piece.days):
            continue
        row_of = np.array([place.get(code, 0) for code in piece.codes], dtype=np.int64)
        day_at = np.searchsorted(days, np.arange(days[0], days[-1] + 1))
        cells = row_of[piece.code_at]
        cells *= len(days)
        cells += day_at[piece.days - days[0]]
        for name, numbers in piece.numbers(columns):
            values[name].reshape(-1)[cells] = numbers
    return Panel(tuple(codes), iso_days(days), values)
