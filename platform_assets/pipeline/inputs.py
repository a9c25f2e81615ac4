"""Records the stored tables that a load read, for the `inputs` of its batches.

Rows that were computed from our own tables have no response to walk back to: their batch names the
batches that it read instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from core.declaration.conditions import Condition
from core.declaration.scope import Reader
from core.errors import DeclarationError
from core.market.bars import Dense
from platform_assets.compute.freshness import CONFIRMED
from resources.warehouse.failures import storage_error
from resources.warehouse.ledger.loads import newest_complete_day
from resources.warehouse.panel import Panel
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse

MAX_BATCHES = 50
"""Batches that one input names."""


def staged_input(table: str, rows: pd.DataFrame, date_column: str | None) -> dict[str, Any]:
    """The input that a frame with `batch_id` is."""
    batches = sorted(set(rows["batch_id"].dropna().tolist()))
    newest = rows[date_column].dropna().max() if date_column else None
    return {"table": table, "batch_ids": batches[:MAX_BATCHES], "rows": len(rows), "max_date": newest}


@dataclass
class _Read:
    """Reads of one table, added up; `newest` are the slices of the newest date of each read."""

    rows: int = 0
    max_date: str | None = None
    newest: dict[Slice, None] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredReads:
    """Reads of the warehouse's tables (`declaration.scope.Reader`)."""

    warehouse: Warehouse
    undated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Table without dates -> the columns that this load may read of it as they are now."""
    old_years: bool = True
    """Whether rows count that are in column files (`resources.lake.old_years`)."""

    def __call__(
        self,
        table: str,
        *,
        columns: Sequence[str],
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        noted: Sequence[str] = (),
        as_of: str | None = None,
    ) -> pd.DataFrame:
        if as_of is None and not {*columns} <= self.undated.get(table, {*columns}):
            names = ", ".join(sorted({*columns} - self.undated[table]))
            raise DeclarationError(f"{names} of {table} would be those of now in rows of dates")
        declared = self.warehouse.table(table)
        where = Slice(
            date_column=declared.date_column if since or until else None,
            since=since,
            until=until,
            codes=None if codes is None else tuple(codes),
        )
        kept_by_day = declared.has_history and declared.key == ("code", "date")
        if self.old_years and kept_by_day and self.warehouse.may_have_old_years:
            # Loads pyarrow and deltalake, which most loads do not need.
            from resources.lake.old_frames import old_frame  # noqa: PLC0415

            found = old_frame(self.warehouse, declared, columns=columns, where=where, as_of=as_of)
            if found is not None:
                return found
        return self.warehouse.frame(table, columns=columns, where=where, as_of=as_of)

    def panel(
        self,
        table: str,
        *,
        columns: Sequence[str],
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        noted: Sequence[str] = (),
    ) -> Panel:
        # Loads pyarrow and deltalake, which most loads do not need.
        from resources.lake.panel import read_panel  # noqa: PLC0415

        return read_panel(self.warehouse, table, columns, since=since, until=until, conditions=conditions)

    def latest(self, table: str, column: str, before: str) -> str | None:
        name = self.warehouse.sql.name(self.warehouse.table(table).name)
        try:
            if column != CONFIRMED:
                return newest_complete_day(
                    self.warehouse.query, table, self.warehouse.sql.name(column), before
                )
            # Its record outlives a broken table, and includes batches that found nothing.
            if not self.warehouse.query(f"SELECT 1 FROM {name} LIMIT 1"):
                return None
            asked = f"SELECT MAX({CONFIRMED}) FROM table_version WHERE table_name=?"
            found = self.warehouse.query(asked, (table,))[0][0]
        except sa.exc.DBAPIError as error:
            raise storage_error(error) from error
        return None if found is None else str(found)[:10]

    def apart(self) -> Reader:
        return self

    def take_over(self, other: Reader) -> None:
        """Nothing is remembered."""


@dataclass
class NotedReads:
    """A reader that remembers what it gave. Of a table by dates only the batches of the newest date read
    are looked up: those of a year of bars would cost more than the bars."""

    warehouse: Warehouse
    reader: Reader
    _tables: dict[str, _Read] = field(default_factory=dict)
    _taken: list[Reader] = field(default_factory=list)

    def __call__(
        self,
        table: str,
        *,
        columns: Sequence[str],
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        noted: Sequence[str] = (),
        as_of: str | None = None,
    ) -> pd.DataFrame:
        frame = self.reader(table, columns=columns, codes=codes, since=since, until=until, as_of=as_of)
        if len(frame):
            self._note(table, frame, codes, until, noted)
        return frame

    def panel(
        self,
        table: str,
        *,
        columns: Sequence[str],
        since: str,
        until: str,
        conditions: Sequence[Condition] = (),
        noted: Sequence[str] = (),
    ) -> Dense:
        dense = self.reader.panel(table, columns=columns, since=since, until=until, conditions=conditions)
        if dense.dates:
            read = self._tables.setdefault(table, _Read())
            # A row without a number in any column is not distinguished from one that is not there.
            reported = np.logical_or.reduce([np.isfinite(values) for values in dense.values.values()])
            read.rows += int(reported.sum())
            read.max_date = max(read.max_date or "", dense.dates[-1])
            column = str(self.warehouse.table(table).date_column)
            held = frozenset(dense.dates)
            days = [day for day in noted if day in held] or [dense.dates[-1]]
            read.newest |= dict.fromkeys(Slice.of_date(column, day) for day in days)
        return dense

    def latest(self, table: str, column: str, before: str) -> str | None:
        """No rows: nothing that a batch could name."""
        return self.reader.latest(table, column, before)

    def apart(self) -> "NotedReads":
        return NotedReads(self.warehouse, self.reader)

    def take_over(self, other: Reader) -> None:
        if not isinstance(other, NotedReads) or any(other is one for one in self._taken):
            return
        self._taken.append(other)
        for table, given in other._tables.items():
            read = self._tables.setdefault(table, _Read())
            read.rows += given.rows
            read.max_date = max(read.max_date or "", given.max_date or "") or None
            read.newest |= given.newest

    def _note(
        self,
        table: str,
        frame: pd.DataFrame,
        codes: Sequence[str] | None,
        until: str | None,
        noted: Sequence[str],
    ) -> None:
        read = self._tables.setdefault(table, _Read())
        read.rows += len(frame)
        column = self.warehouse.table(table).date_column
        newest = frame[column].dropna().max() if column in frame.columns else until
        requested = None if codes is None else tuple(codes)
        if column is None or newest is None:
            read.newest[Slice(codes=requested)] = None
            return
        read.max_date = max(read.max_date or "", str(newest))
        days = sorted({*noted} & {*frame[column].dropna()}) if noted and column in frame.columns else ()
        read.newest |= dict.fromkeys(Slice.of_date(column, day, requested) for day in days or (str(newest),))

    def inputs(self) -> list[dict[str, Any]]:
        """[{table, batch_ids, rows, max_date}], by table in the order of the first read."""
        return [
            {
                "table": table,
                "batch_ids": self._batches(table, read),
                "rows": read.rows,
                "max_date": read.max_date,
            }
            for table, read in self._tables.items()
        ]

    def _batches(self, table: str, read: _Read) -> list[str]:
        """At most `MAX_BATCHES`, those of the newest dates first."""
        found: dict[str, None] = {}
        for where in sorted(read.newest, key=lambda one: one.until or "", reverse=True):
            rows = self.warehouse.frame(table, columns=("batch_id",), where=where)
            found |= dict.fromkeys(sorted(set(rows["batch_id"].dropna().tolist())))
            if len(found) >= MAX_BATCHES:
                break
        return list(found)[:MAX_BATCHES]
