"""Reads of published tables, alone or completed by the warehouse.

`read_published` reads one snapshot of the lake. `LakeReader` compares the published version of each month
with the warehouse's, reads what is behind from the warehouse, and gives the warehouse's own answer: the lake
makes it faster, never different.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import reduce
from operator import and_

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from sqlalchemy.engine import Connection

from core.declaration.tables import WHOLE, Table
from core.errors import InputError
from resources.lake.location import Lake, LakeFile, PublishedTable, lake_failures
from resources.lake.old_years import COMPARED, old_years, with_old
from resources.lake.publishing import changes_of
from resources.lake.schema import CURRENT, MONTH, VALID_FROM, VALID_TO, instant_of, row_schema
from resources.lake.warehouse_rows import consistent, month_slice, stored_months, window_rows
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.warehouse import Warehouse

FEW_CODES = 50
"""Up to so many codes are read from the warehouse, whose rows are ordered by code: a lookup each."""


def months_between(since: str, until: str) -> list[str]:
    """Months (YYYY-MM) of the days from `since` to `until`, both included."""
    first, last = (int(day[:4]) * 12 + int(day[5:7]) - 1 for day in (since, until))
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in range(first, last + 1)]


def read_published(
    opened: PublishedTable,
    *,
    columns: Sequence[str] | None = None,
    codes: Sequence[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    as_of: str | datetime | None = None,
    months: Sequence[str] | None = None,
) -> pa.Table:
    """Rows of a published table in the order of its key.

    `columns`: default all but the partition columns. `since` and `until` are days of the table's date column,
    both included. `as_of` (exchange time) gives the rows that were valid then, otherwise those that are
    valid now. `months` limits the read to these partitions. Raises InputError, StorageError.
    """
    names = _columns(opened, columns)
    if (since or until) and opened.date_column is None:
        raise InputError("since", f"{opened.name} has no dates")
    if as_of is not None and not opened.keeps_versions:
        raise InputError("as_of", f"{opened.name} keeps no versions")
    if months is None and opened.by_month and (since or until):
        held = [file.month for file in opened.files]
        months = months_between(since or min(held, default="1990-01"), until or max(held, default="1990-01"))
    files = opened.of_months(months, current=None if as_of is not None else True)
    wanted = _condition(opened, codes, since, until, as_of)
    read = list(dict.fromkeys([*names, *opened.key]))
    found = _scanned(opened, files, read, wanted)
    return found.sort_by([(name, "ascending") for name in opened.key]).select(names)


def published_rows(opened: PublishedTable, months: Sequence[str]) -> pa.Table:
    """All rows of some months, superseded ones too, in no order."""
    return _scanned(opened, opened.of_months(months, current=None), _columns(opened, None), None)


def _scanned(
    opened: PublishedTable, files: Sequence[LakeFile], columns: Sequence[str], wanted: ds.Expression | None
) -> pa.Table:
    physical = pa.schema([field for field in opened.schema if field.name not in (MONTH, CURRENT)])
    with lake_failures(f"the lake's table {opened.name} cannot be read"):
        source = ds.dataset(
            [file.path for file in files], schema=physical, format="parquet", filesystem=opened.filesystem
        )
        return source.to_table(columns=list(columns), filter=wanted)


def _columns(opened: PublishedTable, columns: Sequence[str] | None) -> list[str]:
    known = [name for name in opened.schema.names if name not in (MONTH, CURRENT)]
    if columns is None:
        return known
    wrong = next((name for name in columns if name not in known), None)
    if wrong is not None:
        raise InputError("columns", f"{wrong[:64]!r} is none of {', '.join(known)}")
    return list(columns)


def _condition(
    opened: PublishedTable,
    codes: Sequence[str] | None,
    since: str | None,
    until: str | None,
    as_of: str | datetime | None,
) -> ds.Expression | None:
    parts: list[ds.Expression] = []
    if codes is not None:
        parts.append(pc.field("code").isin(list(codes)))
    if opened.date_column is not None:
        dated = pc.field(opened.date_column)
        timed = pa.types.is_timestamp(opened.schema.field(opened.date_column).type)
        if since is not None:
            first = date.fromisoformat(since)
            parts.append(dated >= (datetime.combine(first, time()) if timed else first))
        if until is not None:
            last = date.fromisoformat(until)
            # A day is included whole.
            parts.append(
                dated < datetime.combine(last + timedelta(days=1), time()) if timed else dated <= last
            )
    if as_of is not None:
        instant = pa.scalar(instant_of(as_of), pa.timestamp("us"))
        parts.append((pc.field(VALID_FROM) <= instant) & (pc.field(VALID_TO) > instant))
    return reduce(and_, parts) if parts else None


@dataclass(frozen=True)
class LakeReader:
    """Rows as the warehouse has them now, read from the lake where that is current."""

    warehouse: Warehouse
    lake: Lake

    def read(
        self,
        name: str,
        *,
        columns: Sequence[str] | None = None,
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        as_of: str | datetime | None = None,
    ) -> pa.Table:
        """As `read_published`, of a table of the warehouse; NotFound for one that it does not have."""
        table = self.warehouse.table(name)
        if as_of is not None and not table.has_history:
            raise InputError("as_of", f"{name} keeps no versions")
        if (since or until) and table.date_column is None:
            raise InputError("since", f"{name} has no dates")
        rows = self._held(table, codes, since, until, as_of)
        old = old_years(self.lake, name)
        if old is not None and old.reaches(since):
            known = row_schema(table)
            if columns is not None:
                known = pa.schema([one for one in known if one.name in {*columns, *COMPARED}])
            found = old.read(known.names, codes=codes, since=since, until=until, as_of=as_of)
            rows = with_old(rows.select(known.names).cast(known), found, as_of)
        return _ordered(table, rows, columns)

    def _held(
        self,
        table: Table,
        codes: Sequence[str] | None,
        since: str | None,
        until: str | None,
        as_of: str | datetime | None,
    ) -> pa.Table:
        """The rows that the warehouse has, in no order."""
        opened = self._opened(table, codes)
        behind: list[str] | None = None
        with consistent(self.warehouse) as connection:
            if opened is not None:
                behind = months_behind(self.warehouse.sql, connection, table, opened, since, until)
            stored = self._stored(connection, table, codes, since, until, as_of, behind)
        if opened is None or behind is None:
            return stored
        months = {file.month for file in opened.files} - set(behind)
        published = read_published(
            opened, codes=codes, since=since, until=until, as_of=as_of, months=sorted(months)
        )
        return pa.concat_tables([published.cast(stored.schema), stored]) if len(stored) else published

    def _opened(self, table: Table, codes: Sequence[str] | None) -> PublishedTable | None:
        """The published table, where a read of these codes uses it."""
        few = codes is not None and len(codes) <= FEW_CODES
        if few or not table.published or not self.lake.has(table.name):
            return None
        opened = self.lake.table(table.name)
        return opened if set(row_schema(table).names) <= set(opened.schema.names) else None

    def _stored(
        self,
        connection: Connection,
        table: Table,
        codes: Sequence[str] | None,
        since: str | None,
        until: str | None,
        as_of: str | datetime | None,
        months: Sequence[str] | None,
    ) -> pa.Table:
        """Rows of some months (None: all) from the warehouse."""
        instant = None if as_of is None else instant_of(as_of).strftime("%Y-%m-%d %H:%M:%S.%f")
        timed = table.timed and until is not None
        last = f"{until} 23:59:59.999999" if timed else until
        dates = (
            {} if since is None and until is None
            else {"date_column": table.date_column, "since": since, "until": last}
        )  # fmt: skip
        chosen = None if codes is None else tuple(codes)
        if months is None or WHOLE in months:
            where = Slice(codes=chosen, **dates)  # type: ignore[arg-type]
            return window_rows(connection, self.warehouse.sql, table, where, as_of=instant)
        parts = [row_schema(table).empty_table()]
        for month in months:
            part = month_window(table, month, since, last)
            where = Slice(table.date_column, *part, codes=chosen)
            parts.append(window_rows(connection, self.warehouse.sql, table, where, as_of=instant))
        return pa.concat_tables(parts)


def months_behind(
    sql: Sql,
    connection: Connection,
    table: Table,
    opened: PublishedTable,
    since: str | None = None,
    until: str | None = None,
) -> list[str] | None:
    """Months of the window whose published rows are not the warehouse's; None when none of the published ones
    can be used (another warehouse, unknown changes). `connection` sees one consistent state, which began
    after the snapshot was opened."""
    state = opened.state
    known = [] if state.complete is not None else stored_months(connection, sql, table)
    changes = changes_of(sql, connection, table, state, known)
    if changes is None:
        return None
    behind = state.behind(sorted({*known, *changes.months}), changes)
    first, last = (since or "0000-00")[:7], (until or "9999-99")[:7]
    return [month for month in behind if month == WHOLE or first <= month <= last]


def month_window(table: Table, month: str, since: str | None, until: str | None) -> tuple[str, str]:
    """First and last value of a month's dates, within a window."""
    part = month_slice(table, month)
    return max(str(part.since), since or ""), min(str(part.until), until or "9999")


def _ordered(table: Table, rows: pa.Table, columns: Sequence[str] | None) -> pa.Table:
    names = list(columns) if columns is not None else row_schema(table).names
    wrong = next((name for name in names if name not in rows.column_names), None)
    if wrong is not None:
        raise InputError("columns", f"{wrong[:64]!r} is none of {', '.join(rows.column_names)}")
    return rows.sort_by([(name, "ascending") for name in table.key]).select(names)
