"""One file, from its bytes to the fused table: read and checked as a whole, then written month by month.

Nothing is written before the whole file has been read and every row of it is fine (or `skip` says to leave
out what is not). Each month is three steps (RAW, staging, fused), each idempotent: killed at any moment, the
same call goes on with the month that was not done.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from core.clock import stamp
from core.days import moved
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Table
from core.errors import InputError
from platform_assets.pipeline.batches import Loaded, write_parts
from platform_assets.pipeline.download import Download
from platform_assets.pipeline.imported_rows import fuse_imported, with_imports
from platform_assets.pipeline.imports.mapping import FileMapping
from platform_assets.pipeline.imports.old_years import (
    FEW,
    OldRows,
    Opener,
    batch_of,
    border_of,
    discard,
    in_processes,
    in_this_process,
    keep,
)
from platform_assets.pipeline.imports.origins import Origin
from platform_assets.pipeline.imports.package_rows import PackageFiles
from platform_assets.pipeline.imports.rows import Reading, Refused
from platform_assets.pipeline.imports.spool import Spool
from platform_assets.pipeline.load import load_fused
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import partition_parts
from platform_assets.pipeline.windows import Window
from resources.warehouse.batch_records import Batch, Quality
from resources.warehouse.ledger.imports import ImportKey, Imports

ROWS_AT_ONCE = 150_000
"""Rows of a month that are loaded together."""
MOST_NAMED = 200
NAMED_CODES = 1_000
"""Up to so many codes a load names them; beyond, it compares all of its dates."""

_OLD = "before "
"""Begin of a part of an import, which the border follows: the rows in column files."""
_MONTH, _CODE_GROUP = 7, 3
"""Characters of a day, or of a code, that rows which are loaded together share."""

Report = Callable[[str, float], None]
"""Gets (step, share of it that is done)."""


@dataclass
class Imported:
    """What an import did. `written` counts rows of the fused table that are new or have changed."""

    source: str
    dataset: str
    file_hash: str
    rows: int = 0
    refused: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Files that are not imported -> why; the first `MOST_NAMED` of them."""
    written: int = 0
    in_column_files: int = 0
    """How many of the rows are of old years."""
    months: int = 0
    before: bool = False
    """The same file was imported with the same mapping before: nothing was done."""


@dataclass(frozen=True)
class FileImport:
    """Files of one dataset and how they are read; `folder` is where rows wait between the two passes. Rows of
    a package from before the day `border` go into column files (None: those that are too many for the row
    store), with `reopen` by several processes."""

    run: PipelineRun
    origin: Origin
    folder: Path
    skip: bool = False
    border: str | None = None
    reopen: Opener | None = None

    @property
    def mapping(self) -> FileMapping:
        return self.origin.mapping

    @property
    def dataset(self) -> Dataset:
        return self.run.registry.dataset(self.mapping.dataset)

    @property
    def spool(self) -> Spool:
        """Where the rows wait. What is dated by trade dates is loaded month by month, the rest by the first
        digits of the codes: a load of codes reads all that is staged of them."""
        own = f"{self.mapping.name}-{self.mapping.dataset}"
        name = f"{own}-{self.origin.digest[:16]}-{self.mapping.digest[:8]}"
        dated = self.dataset.partition is Partition.TRADE_DATE
        by = (str(self.dataset.date_column), _MONTH) if dated else ("code", _CODE_GROUP)
        since = self.origin.since if isinstance(self.origin, PackageFiles) else None
        folder = self.folder / f"{name}{'-skip' if self.skip else ''}{f'-{since}' if since else ''}"
        return Spool(folder, self.dataset.stage_table.columns, self.dataset.key, *by)

    def read(self, spool: Spool, refused: Refused, report: Report) -> dict[str, Any]:
        """The first pass: every row checked and kept in the spool; its facts."""
        reading = Reading(self.dataset, self.mapping, self.run.calendar, stamp(self.run.clock.now()))

        def frames() -> Iterator[pd.DataFrame]:
            for chunk in self.origin.chunks(refused):
                yield reading.rows(chunk.frame, refused)
                report("reading", chunk.share)

        return spool.fill(frames(), refused, skip=self.skip)


def import_file(job: FileImport, report: Report = lambda _step, _share: None) -> Imported:
    """Import a file. Raises InputError that names the file, and the row, of what cannot be imported; then a
    failed batch of the RAW table keeps the reasons and nothing else has changed."""
    run, mapping, dataset = job.run, job.mapping, job.dataset
    key = ImportKey(mapping.name, dataset.name, job.origin.digest)
    ledger = Imports(run.warehouse.engine, run.clock)
    done = Imported(key.source, dataset.name, key.file_hash)
    known = ledger.get(key)
    if known is not None and known.status == "success" and known.mapping_hash == mapping.digest:
        return replace(done, rows=known.rows_in, refused=known.rows_refused, before=True)
    resumed = known is not None and known.status != "success" and known.mapping_hash == mapping.digest
    finished = set(known.parts) if known is not None and resumed else set()
    # The border of an import that was broken off stays, whatever the month is now.
    stored = next((part.removeprefix(_OLD) for part in finished if part.startswith(_OLD)), None)
    border, old = stored or border_of_job(job), OldRows()
    if border is not None and stored is None:
        old = _old_rows(job, border, report)
    if border is not None:
        job = replace(job, origin=replace(cast(PackageFiles, job.origin), since=border))
    spool, refused = job.spool, old.refused
    facts = spool.ready
    if facts is None:
        try:
            facts = _checked(job, spool, refused, key, report, nothing=border is None)
        except BaseException:
            discard(run, dataset.table, old)
            raise
    ledger.begin(
        key,
        mapping=mapping.text,
        mapping_hash=mapping.digest,
        place=mapping.place,
        files=[{"name": one.name, "bytes": one.size} for one in job.origin.files[:1000]],
    )
    if border is not None and stored is None:
        keep(run, dataset, old, key.source)
        ledger.done(key, f"{_OLD}{border}", rows_in=old.rows, written=old.written)
        done.written += old.written
    months: dict[str, int] = facts["months"]
    total = sum(months.values()) or 1
    passed = 0
    for month, rows in months.items():
        if month not in finished:
            written = _month(job, spool.month(month), key)
            ledger.done(key, month, rows_in=rows, written=written)
            done.written += written
        passed += rows
        report("writing", passed / total)
    ledger.finish(key, refused=int(facts["refused"]))
    spool.clear()
    return replace(
        done,
        rows=old.rows + sum(months.values()),
        in_column_files=old.rows,
        refused=int(facts["refused"]),
        reasons=dict(facts.get("reasons", {})),
        left_out=dict(facts.get("left_out", {})),
        months=len(months),
    )


def border_of_job(job: FileImport) -> str | None:
    """The first day that goes to the warehouse, where others go into column files."""
    if not isinstance(job.origin, PackageFiles):
        return None
    return border_of(job.run, job.origin, job.dataset.table, job.border)


def _old_rows(job: FileImport, border: str, report: Report) -> OldRows:
    """The rows of before the border, read, checked and written, and not readable yet."""
    origin = replace(cast(PackageFiles, job.origin), until=moved(border, -1))

    def reading(share: float) -> None:
        report("reading", share)

    batch_id = batch_of(job.run, job.dataset.name, job.origin.digest, job.mapping.digest, border)
    if job.reopen is not None and origin.bars > FEW:
        return in_processes(job.run, origin, batch_id, job.reopen, reading)
    return in_this_process(job.run, origin, batch_id, reading)


def _checked(
    job: FileImport, spool: Spool, refused: Refused, key: ImportKey, report: Report, *, nothing: bool
) -> dict[str, Any]:
    """The facts of the first pass, sealed. Raises InputError when a row is refused that must not be, or
    `nothing` is left and was stored before."""

    def record(why: str) -> None:
        """A failed batch of the RAW table keeps what was refused."""
        batch = Batch(partition_key=key.file_hash[:32], fusion_type=job.dataset.name, **job.run.batch_facts())
        quality = quality_of(refused, key.source)
        job.run.warehouse.writer.record_failure(
            job.dataset.import_table, batch, why, rejected=refused.rows, quality=quality
        )

    try:
        facts = job.read(spool, refused, report)
        _must_be_whole(job, facts, refused, nothing=nothing)
    except InputError as error:
        spool.clear()
        record(error.message)
        raise
    if refused.rows or refused.files:
        record(f"left out: {refused.text}")
    facts["reasons"] = dict(refused.counts)
    facts["left_out"] = dict(list(refused.files.items())[:MOST_NAMED])
    spool.seal(facts)
    return facts


def _must_be_whole(job: FileImport, facts: dict[str, Any], refused: Refused, *, nothing: bool) -> None:
    if refused.rows and not job.skip:
        raise InputError("file", refused.text)
    if nothing and not facts["months"] and not refused.files:
        why = f"{job.origin.label} has no row that could be stored; {refused.text}"
        raise InputError("file", why.rstrip("; "))


def quality_of(refused: Refused, source: str) -> list[Quality]:
    """Records of refused rows: the first of them, and one per reason."""
    rows = [
        Quality(
            f"import:{one['reason']}",
            "hard",
            "rejected",
            f"{one['file']}, row {one['row']}: {one['reason']}",
            natural_key=canonical_json({"file": one["file"], "row": one["row"]}),
            failed_value=one["value"],
            sources=[source],
        )
        for one in refused.shown
    ]
    sums = [
        Quality(f"import:{reason}", "hard", "rejected", f"{count} rows", failed_count=count, sources=[source])
        for reason, count in refused.counts.items()
    ]
    files = [
        Quality("import:file", "hard", "rejected", f"{name}: {why}", failed_value=name[:60], sources=[source])
        for name, why in list(refused.files.items())[:MOST_NAMED]
    ]
    return [*rows, *sums, *files]


def _month(job: FileImport, frame: pd.DataFrame, key: ImportKey) -> int:
    """Load the rows of a month; how many rows of the fused table were written."""
    column = str(job.dataset.date_column)
    written = 0
    days = frame[column].value_counts().sort_index()
    groups = (days.cumsum() - 1) // ROWS_AT_ONCE
    for _, own in groups.groupby(groups):
        part = frame[frame[column].isin(list(own.index))]
        written += _load(job, part.reset_index(drop=True), key)
    return written


def scope_of(run: PipelineRun, dataset: Dataset, frame: pd.DataFrame) -> Scope:
    """The dates and codes that a load of these rows is about."""
    codes = tuple(sorted(set(frame["code"])))
    if dataset.partition is not Partition.TRADE_DATE:
        return Scope((run.calendar.newest_complete(run.clock.now()),), codes)
    dates = tuple(sorted(set(frame[str(dataset.date_column)])))
    return Scope(dates, codes if len(codes) <= NAMED_CODES else None)


def _load(job: FileImport, frame: pd.DataFrame, key: ImportKey) -> int:
    """RAW -> STG -> DWD of some rows."""
    run, dataset = job.run, with_imports(job.run, job.dataset)
    scope = scope_of(run, dataset, frame)
    placed = frame.assign(src=key.source, file_hash=key.file_hash)
    raw = _write(run, dataset, dataset.import_table, scope, placed, [], key)
    batches = [one.batch_id for one in raw.results][:50]
    inputs = [
        {"table": dataset.import_table.name, "batch_ids": batches, "rows": len(frame), "max_date": None}
    ]
    staged = _write(run, dataset, dataset.stage_table, scope, placed, inputs, key)
    if dataset.staged:
        fused = load_fused(run, job.dataset, scope)
    else:
        names = dict.fromkeys([*(spec.name for spec in dataset.stage_table.columns), "src"])
        newest = staged.results[-1].batch_id if staged.results else None
        fused = fuse_imported(run, dataset, scope, placed[list(names)].assign(batch_id=newest))
    return sum(one.rows_written for one in fused.results)


def _write(
    run: PipelineRun,
    dataset: Dataset,
    table: Table,
    scope: Scope,
    frame: pd.DataFrame,
    inputs: list[Any],
    key: ImportKey,
) -> Loaded:
    loaded = Loaded(table)
    names = [name for name in dict.fromkeys((*(spec.name for spec in table.columns), "src")) if name in frame]
    window = Window.of(table, dataset.partition, scope, run.calendar)
    parts = list(partition_parts(window, frame[names]))
    note = {"src": key.source, "calls": 0, "rows": len(frame), "fetch_ids": []}
    facts = {"inputs": inputs, "fusion_type": dataset.name}
    write_parts(run, loaded, parts, Download(frame, [note]), facts=facts)
    return loaded
