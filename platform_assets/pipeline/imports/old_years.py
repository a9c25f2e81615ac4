"""Old years of a package: security by security into column files instead of RAW, staging and fused rows.

The rows are read, derived and checked as those of the warehouse are, some securities at a time with all of
their past, so that nothing is sorted or kept twice. Large packages are done by several processes, each with a
part of the securities and files of its own; nothing is readable before all of them are done.
"""

import multiprocessing as mp
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.clock import stamp
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json
from core.declaration.scope import Scope
from core.declaration.tables import Table
from core.errors import PlatformError
from platform_assets.pipeline.fused_rows import checked_rows
from platform_assets.pipeline.imported_rows import with_imports, with_references
from platform_assets.pipeline.imports.kept_reads import KeptReads
from platform_assets.pipeline.imports.package_rows import PackageFiles
from platform_assets.pipeline.imports.packages import DAILY_BARS
from platform_assets.pipeline.imports.rows import PLACES, Reading, Refused
from platform_assets.pipeline.inputs import StoredReads
from platform_assets.pipeline.run import PipelineRun
from resources.lake.location import Lake, lake_of
from resources.lake.old_years import (
    OldFile,
    OldYears,
    YearFiles,
    commit,
    delete_files,
    is_kept,
    old_schema,
    old_years,
)
from resources.warehouse.batch_records import MAX_QUALITY_ROWS, Batch, Quality

ROWS_AT_ONCE = 100_000
"""Rows that are derived and checked together."""
FEW = 250_000
"""Bars that the row store takes within a minute."""
MANY = 1_500_000
"""Bars that column files take within a minute."""
_MARKET = 1_000
"""Codes of a date that is one of the market, not of a watch list."""
_MOST = 2
"""Processes: each holds a few hundred MB."""
_LOOK_S = 1.0
_PUBLIC = "_public"

Report = Callable[[float], None]
"""Gets the share that is done."""
Opener = Callable[[], AbstractContextManager[tuple[PipelineRun, PackageFiles]]]
"""Opens warehouse and package once more, in another process."""


@dataclass
class OldRows:
    """Rows of old years, one batch. `files` are written and not readable yet; `unchanged` rows are there
    already."""

    batch_id: str = ""
    files: list[OldFile] = field(default_factory=list)
    rows: int = 0
    unchanged: int = 0
    warnings: int = 0
    rejected: int = 0
    first: str = "9999"
    latest: str = ""
    quality: list[Quality] = field(default_factory=list)
    refused: Refused = field(default_factory=Refused)

    @property
    def written(self) -> int:
        return sum(file.rows for file in self.files)

    def add(self, other: "OldRows") -> None:
        """Count those of other securities as well."""
        self.files += other.files
        self.rows, self.unchanged = self.rows + other.rows, self.unchanged + other.unchanged
        self.warnings, self.rejected = self.warnings + other.warnings, self.rejected + other.rejected
        self.first, self.latest = min(self.first, other.first), max(self.latest, other.latest)
        self.quality += other.quality
        self.refused.add_all(other.refused)

    @property
    def records(self) -> list[Quality]:
        """Of each check the first rows that failed it, and one record that counts all."""
        sums: dict[str, Quality] = {}
        named: Counter[str] = Counter()
        kept = []
        for one in self.quality:
            if one.natural_key is None:
                before = sums.get(one.check)
                count = one.failed_count + (before.failed_count if before else 0)
                total = one.total_count + (before.total_count if before else 0)
                sums[one.check] = replace(one, failed_count=count, total_count=total, message=f"{count} rows")
            elif named[one.check] < MAX_QUALITY_ROWS:
                named[one.check] += 1
                kept.append(one)
        return [*kept, *sums.values()]


def border_of(run: PipelineRun, origin: PackageFiles, table: Table, asked: str | None) -> str | None:
    """The first day that goes to the warehouse; None where all do. `asked`: it is this day. Else only what is
    too much for the row store is parted: at the first date of which the warehouse has the market, or at the
    beginning of this month."""
    if lake_of(run.warehouse) is None or not is_kept(table):
        return None
    if asked is not None or origin.bars <= FEW:
        return asked if origin.bars else None
    month = f"{run.clock.now():%Y-%m}-01"
    name = run.warehouse.sql.name(table.name)
    ((first,),) = run.warehouse.query(
        f"SELECT MIN(date) FROM (SELECT date FROM {name} GROUP BY date HAVING COUNT(*)>={_MARKET}) AS d"
    )
    return month if first is None else min(month, str(first)[:10])


def _lake(run: PipelineRun) -> Lake:
    """The lake of the warehouse. PlatformError where it was opened without."""
    found = lake_of(run.warehouse)
    if found is None:
        raise PlatformError("column files need the address of a lake")
    return found


def batch_of(run: PipelineRun, *facts: str) -> str:
    """The number of the batch of an import with these facts. It is the same when the import begins again, so
    that rows of a process that was killed before it could record their batch get their record; another one
    where that is there."""
    batch_id = uuid.uuid5(uuid.NAMESPACE_OID, " ".join(facts)).hex
    return uuid.uuid4().hex if _is_recorded(run, batch_id) else batch_id


def _is_recorded(run: PipelineRun, batch_id: str) -> bool:
    return bool(run.warehouse.query("SELECT 1 FROM sys_batch WHERE batch_id=?", (batch_id,)))


def keep(run: PipelineRun, dataset: Dataset, old: OldRows, source: str) -> None:
    """Make the rows readable, as one batch."""
    lake = _lake(run)
    if old.files:
        commit(lake, dataset.table, old.files, {"batches": canonical_json([old.batch_id])})
    held = old_years(lake, dataset.table_name)
    written = 0 if held is None else held.rows_of(old.batch_id)
    if not written:
        return
    note = {"src": source, "calls": 0, "rows": old.rows, "fetch_ids": []}
    batch = Batch(
        partition_key=f"{old.first}..{old.latest}", batch_id=old.batch_id, fusion_type=dataset.name,
        domain=dataset.domain, sources=[note], **run.batch_facts(),
    )  # fmt: skip
    counts = {
        "rows_in": old.rows + old.rejected, "rows_ok": old.rows - old.warnings, "rows_warning": old.warnings,
        "rows_rejected": old.rejected, "rows_unchanged": old.rows - written, "rows_written": written,
    }  # fmt: skip
    run.warehouse.writer.record_column_files(
        dataset.table, batch, counts, old.latest, quality=old.records, lease=run.lease
    )


def discard(run: PipelineRun, table: Table, old: OldRows) -> None:
    """Delete files that are not to become readable."""
    if old.files:
        delete_files(_lake(run), table, old.files)


# -- several processes ------------------------------------------------------------------------------


def in_processes(
    run: PipelineRun, origin: PackageFiles, batch_id: str, reopen: Opener, report: Report
) -> OldRows:
    """`in_this_process`, each process with a part of the securities."""
    pieces = origin.series
    processes = max(1, min(_MOST, os.cpu_count() or 1, len(pieces)))
    sizes = np.cumsum([one.size for one in pieces])
    cuts = np.searchsorted(sizes, np.linspace(0, sizes[-1], processes + 1)[1:-1])
    parts = np.split(np.array([one.name for one in pieces], dtype=object), cuts)
    done = OldRows(batch_id=batch_id)
    context = mp.get_context("spawn")  # a fork would share connections, and the threads of PyArrow
    shares = context.Array("d", processes)
    with ProcessPoolExecutor(processes, context, initializer=_say_in, initargs=(shares,)) as pool:
        asked = [
            pool.submit(_part, at, reopen, frozenset(part.tolist()), origin.until, batch_id)
            for at, part in enumerate(parts)
        ]
        running: set[Future[OldRows]] = set(asked)
        while running:
            _, running = wait(running, _LOOK_S)
            report(sum(shares[:]) / processes)
    failed = next((one.exception() for one in asked if one.exception() is not None), None)
    for one in asked:
        if one.exception() is None:
            done.add(one.result())
    if failed is not None:
        discard(run, run.registry.dataset(origin.mapping.dataset).table, done)
        raise failed
    return done


_SHARES: Any = None


def _say_in(shares: Any) -> None:
    global _SHARES  # noqa: PLW0603  what a process of the pool begins with
    _SHARES = shares


def _part(at: int, reopen: Opener, only: frozenset[str], until: str | None, batch_id: str) -> OldRows:
    def report(share: float) -> None:
        _SHARES[at] = share

    with reopen() as (run, origin):
        return in_this_process(run, replace(origin, only=only, until=until), batch_id, report)


# -- the rows ---------------------------------------------------------------------------------------


def in_this_process(run: PipelineRun, origin: PackageFiles, batch_id: str, report: Report) -> OldRows:
    """Read, check and write the securities of a package up to its last day (`until`)."""
    dataset = with_imports(run, run.registry.dataset(origin.mapping.dataset))
    names = frozenset(one.name for one in origin.series)
    part = replace(origin, only=names, rows_at_once=ROWS_AT_ONCE)
    done = OldRows(batch_id=batch_id)
    files = YearFiles(_lake(run), dataset.table)
    try:
        work = _Work(run, part, batch_id, old_years(_lake(run), dataset.table_name))
        for rows in work.parts(done, report):
            files.add(rows)
    except BaseException:
        delete_files(_lake(run), dataset.table, files.close())
        raise
    done.files = files.close()
    return done


@dataclass(frozen=True)
class _Work:
    run: PipelineRun
    origin: PackageFiles
    batch_id: str
    before: OldYears | None
    """What earlier packages have brought."""

    def parts(self, done: OldRows, report: Report) -> Iterator[pa.Table]:
        """New and changed rows of some securities at a time, ready to be written; `done` counts."""
        run, mapping = self.run, self.origin.mapping
        dataset = with_imports(run, run.registry.dataset(mapping.dataset))
        reading = Reading(
            run.registry.dataset(mapping.dataset), mapping, run.calendar, stamp(run.clock.now())
        )
        reader = StoredReads(run.warehouse, old_years=False)
        kept = KeptReads(run.warehouse, reader, dataset.table_name, self._warehouse_has_some(dataset.table))
        for chunk in self.origin.chunks(done.refused):
            rows = reading.rows(chunk.frame, done.refused)
            report(chunk.share)
            if rows.empty:
                continue
            places = rows[[*dataset.key, *PLACES]]
            rows = rows.drop(columns=list(PLACES)).assign(src=self.source)
            scope = Scope(tuple(sorted(rows["date"].unique())), tuple(sorted(rows["code"].unique())))
            context = run.context(scope, replace(kept, codes=scope.codes or ()))
            if dataset.name == DAILY_BARS:
                rows = with_references(rows, context)
            found = checked_rows(dataset, rows, context, scope)
            total = len(found.frame) + found.rejected
            done.rejected += found.rejected
            done.quality += [one for item in found.failures for one in item.records(item.rows, total)]
            if found.frame.empty:
                continue
            frame = found.frame.merge(places, on=list(dataset.key), how="left")
            if dataset.public_at is not None:
                frame[_PUBLIC] = dataset.public_at(frame, context)
            done.rows += len(frame)
            done.warnings += int((frame["quality"] != "ok").sum())
            done.first = min(done.first, str(frame["date"].min()))
            done.latest = max(done.latest, str(frame["date"].max()))
            yield self._changed(dataset.table, self._arrow(dataset.table, frame), done, scope.codes)

    @property
    def source(self) -> str:
        return f"import:{self.origin.mapping.name}"

    def _warehouse_has_some(self, table: Table) -> bool:
        """Whether the warehouse has a row of the days in question."""
        name = self.run.warehouse.sql.name(table.name)
        return bool(
            self.run.warehouse.query(f"SELECT 1 FROM {name} WHERE date<=? LIMIT 1", (self.origin.until,))
        )

    def _arrow(self, table: Table, frame: pd.DataFrame) -> pa.Table:
        now = stamp(self.run.clock.now())
        fixed = {
            "provenance": None, "batch_id": self.batch_id, "created_at": now, "updated_at": now,
            "file_hash": self.origin.digest,
        }  # fmt: skip
        columns = []
        for one in old_schema(table):
            if one.name == "valid_from":
                public = frame[_PUBLIC] if _PUBLIC in frame else pd.Series(now, index=frame.index)
                columns.append(_times(public.where(public < now, now), one.type))
            elif one.name in fixed:
                columns.append(pa.repeat(pa.scalar(fixed[one.name], pa.string()), len(frame)).cast(one.type))
            elif pa.types.is_temporal(one.type):
                columns.append(_times(frame[one.name], one.type))
            else:
                columns.append(pa.array(frame[one.name], one.type, from_pandas=True))
        return pa.Table.from_arrays(columns, schema=old_schema(table))

    def _changed(
        self, table: Table, rows: pa.Table, done: OldRows, codes: tuple[str, ...] | None
    ) -> pa.Table:
        """The rows that are new, or differ from what an earlier package has brought: those are valid from
        now on."""
        if self.before is None:
            return rows
        names = [*table.key, "valid_from", *table.content]
        held = self.before.read(names, codes=codes, until=self.origin.until)
        order = np.argsort(own := _keys(held, rows))
        if not len(own):
            return rows
        wanted = _keys(rows, rows)
        at = order[np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)]
        there = own[at] == wanted
        beside = held.take(pa.array(at))
        same = there.copy()
        for name in table.content:
            same &= _equal(rows[name], beside[name])
        done.unchanged += int(same.sum())
        now = pa.scalar(self.run.clock.now(), pa.timestamp("us"))
        since = pc.if_else(
            pa.array(there), pc.max_element_wise(now, beside["valid_from"]), rows["valid_from"]
        )
        rows = rows.set_column(
            rows.schema.get_field_index("valid_from"), rows.schema.field("valid_from"), since
        )
        return rows.filter(pa.array(~same))


def _keys(rows: pa.Table, codes_of: pa.Table) -> npt.NDArray[np.int64]:
    """A number for each code and day, the codes counted as they are in `codes_of`."""
    codes = np.unique(codes_of["code"].to_numpy())
    days: npt.NDArray[np.int64] = rows["date"].cast(pa.int32()).to_numpy().astype(np.int64)
    days += 1_000_000 * np.searchsorted(codes, rows["code"].to_numpy())
    return days


def _equal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Where two columns hold the same, or both nothing."""
    nothing = pc.and_(pc.is_null(one), pc.is_null(other))
    found: npt.NDArray[np.bool_] = pc.or_(nothing, pc.fill_null(pc.equal(one, other), False)).to_numpy()
    return found


def _times(values: pd.Series, kind: pa.DataType) -> pa.Array:
    """Days and times as text, each of which is there many times."""
    coded = pa.array(values, pa.string(), from_pandas=True).dictionary_encode()
    return coded.dictionary.cast(kind).take(coded.indices)
