"""Old years: rows of before the dates that the warehouse keeps, in column files beside the published tables.

One Delta table for each table of the warehouse, `<lake>_old_years/<table>`. It is written by imports of whole
packages and made from nothing else, so no publication touches it. A file holds a part of a year, rows by code
and date. Beside the columns of a published row each has its place in the file that it came from. Files are
only added: of two rows of a key the later one has taken the place of the one before. Where both hold a key
the warehouse's row counts, from the time at which it was stored.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from operator import and_
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.transaction import AddAction

from core.declaration.columns import columns_from
from core.declaration.tables import Table
from core.errors import InputError, NotFound
from resources.lake.location import Lake, PublishedTable, lake_failures
from resources.lake.schema import STILL_VALID, VALID_FROM, VALID_TO, arrow_type, instant_of, row_schema

PLACE = ("file_name", "file_row", "file_hash")
"""Columns of a row's place: the file, the number of the record in it (from 1), SHA-256 of what was given."""
ROW_GROUP = 32_768
"""Rows of a row group: a read of one code decodes the one that holds it, of each year."""
_CREATED = "created_at"
_INDEXED = ("code", "date")
_ENDS = (VALID_TO, "superseded_by")
COMPARED = (*_INDEXED, _CREATED)
"""Columns that decide which of two rows of a key counts."""
_STILL = pa.scalar(STILL_VALID, pa.timestamp("us"))
Bounds = npt.NDArray[Any]


def is_kept(table: Table) -> bool:
    """Whether old years of a table can be in column files: fused series by code and date."""
    return table.has_history and table.key == _INDEXED


def old_schema(table: Table) -> pa.Schema:
    """The columns of a row: those of a published one but for its end, which a later row makes, and its
    place."""
    specs = columns_from("file_name:s255 file_row:big file_hash:k64")
    own = [field for field in row_schema(table) if field.name not in _ENDS]
    return pa.schema([*own, *(pa.field(spec.name, arrow_type(spec)) for spec in specs)])


# -- reads ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """One file of a snapshot: its footer, its batches, first and last code and day of each row group."""

    path: str
    footer: pq.FileMetaData
    batches: frozenset[str]
    codes: tuple[Bounds, Bounds]
    days: tuple[Bounds, Bounds]

    @classmethod
    def of(cls, opened: PublishedTable, path: str) -> "_File":
        footer = pq.read_metadata(opened.filesystem.open_input_file(path))
        place = {footer.schema.column(at).name: at for at in range(footer.num_columns)}
        groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
        code, day = ([group.column(place[name]).statistics for group in groups] for name in _INDEXED)
        batches = [group.column(place["batch_id"]).statistics.min for group in groups]
        return cls(
            path, footer, frozenset(map(str, batches)),
            (np.array([one.min for one in code], dtype=str), np.array([one.max for one in code], dtype=str)),
            (np.array([one.min for one in day], dtype="datetime64[D]"),
             np.array([one.max for one in day], dtype="datetime64[D]")),
        )  # fmt: skip

    def groups(self, codes: Sequence[str] | None, since: str | None, until: str | None) -> list[int]:
        """The row groups that may hold rows of these codes and days."""
        chosen = np.ones(len(self.codes[0]), dtype=bool)
        if since is not None:
            chosen &= self.days[1] >= np.datetime64(since)
        if until is not None:
            chosen &= self.days[0] <= np.datetime64(until)
        if codes is not None:
            asked = np.array(sorted(codes), dtype=str)
            first = np.searchsorted(asked, self.codes[0], side="left")
            chosen &= first < np.searchsorted(asked, self.codes[1], side="right")
        return [int(at) for at in np.flatnonzero(chosen)]


class OldYears:
    """The column files of one table, as one snapshot has them."""

    def __init__(self, opened: PublishedTable) -> None:
        with lake_failures(f"the old years of {opened.name} cannot be read"):
            self._opened = opened
            self._files = [_File.of(opened, file.path) for file in opened.files]
        held = [file for file in self._files if len(file.days[0])]
        self.first: str | None = min((str(file.days[0].min()) for file in held), default=None)
        """The first day of any row."""
        self.last: str | None = max((str(file.days[1].max()) for file in held), default=None)
        self.rows = sum(file.footer.num_rows for file in self._files)
        """Superseded versions included."""
        self._batches = {name for file in self._files for name in file.batches}

    def rows_of(self, batch_id: str) -> int:
        """The rows that a batch has brought; its files hold those of no other."""
        return sum(file.footer.num_rows for file in self._files if batch_id in file.batches)

    def reaches(self, since: str | None) -> bool:
        """Whether a row may be of this day or a later one."""
        return self.last is not None and (since is None or since <= self.last)

    def codes(self) -> set[str]:
        """The codes that have a row."""
        found: set[str] = set()
        with lake_failures(f"the old years of {self._opened.name} cannot be read"):
            for file in self._files:
                source = self._opened.filesystem.open_input_file(file.path)
                with pq.ParquetFile(source, metadata=file.footer, read_dictionary=["code"]) as opened:
                    found |= set(opened.read(columns=["code"])["code"].unique().to_pylist())
        return found

    def read(
        self,
        columns: Sequence[str],
        *,
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        as_of: str | datetime | None = None,
        every_version: bool = False,
    ) -> pa.Table:
        """Rows that are valid now, or at `as_of`, in no order. `columns`: those of a published row, and of
        its place."""
        own = self._opened.schema
        needed = [
            name for name in dict.fromkeys([*columns, *_INDEXED, VALID_FROM, "batch_id"]) if name in own.names
        ]
        parts = [pa.schema([own.field(name) for name in needed]).empty_table()]
        wanted = _wanted(codes, since, until)
        with lake_failures(f"the old years of {self._opened.name} cannot be read"):
            for file in self._files:
                groups = file.groups(codes, since, until)
                if groups:
                    source = self._opened.filesystem.open_input_file(file.path)
                    with pq.ParquetFile(source, metadata=file.footer) as opened:
                        found = opened.read_row_groups(groups, columns=needed, use_threads=codes is None)
                    parts.append(found.filter(wanted))
        rows = _with_ends(
            pa.concat_tables(parts, promote_options="permissive"), several=len(self._batches) > 1
        )
        if as_of is not None:
            instant = pa.scalar(instant_of(as_of), pa.timestamp("us"))
            rows = rows.filter((pc.field(VALID_FROM) <= instant) & (pc.field(VALID_TO) > instant))
        elif not every_version:
            rows = rows.filter(pc.field(VALID_TO) == _STILL)
        return rows.select(list(columns))


def _wanted(codes: Sequence[str] | None, since: str | None, until: str | None) -> pc.Expression:
    parts = [] if codes is None else [pc.field("code").isin(list(codes))]
    parts += [] if since is None else [pc.field("date") >= date.fromisoformat(since)]
    parts += [] if until is None else [pc.field("date") <= date.fromisoformat(until)]
    return reduce(and_, parts, pc.scalar(True))


def _with_ends(rows: pa.Table, *, several: bool) -> pa.Table:
    """The rows with their ends: where the next version begins, `several` batches may have some."""
    ends: Any = pa.repeat(_STILL, len(rows))
    by: Any = pa.nulls(len(rows), pa.string())
    if several and len(rows):
        rows = rows.sort_by([(name, "ascending") for name in (*_INDEXED, VALID_FROM)]).combine_chunks()
        same = [
            pc.equal(rows[name][1:].combine_chunks(), rows[name][:-1].combine_chunks()) for name in _INDEXED
        ]
        followed = pa.concat_arrays([pc.and_(*same), pa.array([False])])
        later = pa.array(np.minimum(np.arange(1, len(rows) + 1), len(rows) - 1))
        ends = pc.if_else(followed, rows[VALID_FROM].take(later), _STILL)
        by = pc.if_else(followed, rows["batch_id"].take(later), pa.scalar(None, pa.string()))
    return rows.append_column(VALID_TO, ends).append_column("superseded_by", by)


_OPENED: WeakKeyDictionary[PublishedTable, OldYears] = WeakKeyDictionary()


def old_years(lake: Lake | None, name: str) -> OldYears | None:
    """The column files of a table; None where it has none."""
    if lake is None or not lake.old.has(name):
        return None
    opened = lake.old.table(name)
    if opened not in _OPENED:
        _OPENED[opened] = OldYears(opened)
    return _OPENED[opened]


def with_old(stored: pa.Table, old: pa.Table, as_of: str | datetime | None) -> pa.Table:
    """The warehouse's rows of a part of a table, in the published form, and those of its old years that it
    has no row of. At a past time a row that was stored later had not taken the place of the old one."""
    if not len(stored) or not len(old):
        return pa.concat_tables([stored, old.select(stored.schema.names).cast(stored.schema)])
    if as_of is not None:
        instant = pa.scalar(instant_of(as_of), pa.timestamp("us"))
        times = old.select(list(COMPARED)).rename_columns([*_INDEXED, "_old"])
        later = stored.select(list(COMPARED)).filter(pc.field(_CREATED) > instant)
        both = later.join(times, list(_INDEXED), join_type="inner")
        both = both.filter(pc.field("_old") < pc.field(_CREATED))
        stored = _without(stored, both)
    old = _without(old.select(stored.schema.names).cast(stored.schema), stored)
    return pa.concat_tables([stored, old])


def _without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows whose key is not among those of `others`."""
    left = rows.join(others.select(list(_INDEXED)), list(_INDEXED), join_type="left anti")
    return left.select(rows.schema.names).cast(rows.schema)


# -- writes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OldFile:
    """A file that is written and not yet part of the table."""

    path: str
    year: int
    rows: int
    bytes: int
    codes: tuple[str, str]
    days: tuple[str, str]

    @property
    def action(self) -> AddAction:
        least, most = (
            dict(zip(_INDEXED, pair, strict=True)) for pair in zip(self.codes, self.days, strict=True)
        )
        stats = {"numRecords": self.rows, "minValues": least, "maxValues": most, "nullCount": {}}
        return AddAction(
            self.path, self.bytes, {}, int(time.time() * 1000), True, orjson.dumps(stats).decode()
        )


class YearFiles:
    """Writes rows, which come by code and date, into a file for each year."""

    def __init__(self, lake: Lake, table: Table) -> None:
        self._opened = made(lake, table)
        self._schema = old_schema(table)
        self._floats = [field.name for field in self._schema if pa.types.is_floating(field.type)]
        self._held: dict[int, list[pa.Table]] = {}
        self._writers: dict[int, tuple[str, pq.ParquetWriter]] = {}
        self._codes: dict[int, tuple[str, str]] = {}
        self._days: dict[int, tuple[str, str]] = {}
        self._rows: dict[int, int] = {}

    def add(self, rows: pa.Table) -> None:
        """Rows of `old_schema` in the order of code and date, after those before."""
        if not len(rows):
            return
        years = rows["date"].combine_chunks().to_numpy(zero_copy_only=False).astype("datetime64[Y]")
        numbers = years.astype(np.int64) + 1970
        order = np.argsort(numbers, kind="stable")
        found, starts = np.unique(numbers[order], return_index=True)
        sorted_rows = rows.cast(self._schema).take(pa.array(order))
        for year, start, end in zip(found.tolist(), starts, [*starts[1:], len(order)], strict=True):
            held = self._held.setdefault(year, [])
            held.append(sorted_rows.slice(int(start), int(end - start)))
            if sum(map(len, held)) >= ROW_GROUP:
                self._flush(year)

    def _flush(self, year: int) -> None:
        rows = pa.concat_tables(self._held.pop(year)).combine_chunks()
        if year not in self._writers:
            path = f"{year}-{uuid.uuid4().hex}.parquet"
            stream = self._opened.filesystem.open_output_stream(path)
            texts = [name for name in self._schema.names if name not in self._floats]
            self._writers[year] = path, pq.ParquetWriter(
                stream, self._schema, compression="zstd", compression_level=3, use_dictionary=texts,
                use_byte_stream_split=self._floats, write_page_checksum=False,
            )  # fmt: skip
        self._writers[year][1].write_table(rows, row_group_size=len(rows))
        for name, bounds in (("code", self._codes), ("date", self._days)):
            least = pc.min_max(rows[name]).as_py()
            before = bounds.get(year, (str(least["min"]), str(least["max"])))
            bounds[year] = min(before[0], str(least["min"])), max(before[1], str(least["max"]))
        self._rows[year] = self._rows.get(year, 0) + len(rows)

    def close(self) -> list[OldFile]:
        """The files, whole."""
        for year in list(self._held):
            self._flush(year)
        done = []
        for year, (path, writer) in sorted(self._writers.items()):
            writer.close()
            writer.file_handle and writer.file_handle.close()
            size = self._opened.filesystem.get_file_info(path).size
            done.append(OldFile(path, year, self._rows[year], size, self._codes[year], self._days[year]))
        return done


def made(lake: Lake, table: Table) -> PublishedTable:
    """The table of column files, made where it is not there yet. InputError for one that keeps none."""
    if not is_kept(table):
        raise InputError("dataset", f"{table.name} keeps no old years in column files")
    try:
        return lake.old.table(table.name)
    except NotFound:
        with lake_failures(f"the old years of {table.name} cannot be made"):
            DeltaTable.create(
                lake.old.address(table.name), old_schema(table), mode="ignore", name=table.name,
                description=f"{table.description}: years before the warehouse's",
                storage_options=lake.old.options or None,
            )  # fmt: skip
        return lake.old.table(table.name)


def commit(lake: Lake, table: Table, files: Sequence[OldFile], facts: Mapping[str, str]) -> None:
    """Make files part of the table, with `facts` about them in its log."""
    opened = lake.old.table(table.name)
    with lake_failures(f"the old years of {table.name} cannot be written"):
        opened.delta.create_write_transaction(
            [file.action for file in files],
            mode="append",
            schema=opened.delta.schema(),
            commit_properties=CommitProperties(custom_metadata=dict(facts)),
        )
    lake.old.forget(table.name)


def delete_files(lake: Lake, table: Table, files: Sequence[OldFile]) -> None:
    """Delete files that are not to become part of the table."""
    opened = lake.old.table(table.name)
    for file in files:
        opened.filesystem.delete_file(file.path)
