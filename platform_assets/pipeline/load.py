"""The three loads: RAW from upstreams, STG from RAW, DWD (and reference tables) from STG or upstreams.

Each is a pure function between two frames plus one transactional write per partition. A range of trade
dates is fetched, derived and checked as one frame and written date by date.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from platform_assets.declaration.dataset import Dataset, Raw
from platform_assets.declaration.frames import canonical_json, coerce, empty_frame
from platform_assets.declaration.rules import Partition, Rows
from platform_assets.declaration.scope import Context, Scope
from platform_assets.declaration.tables import Layer, Table
from platform_assets.pipeline.checks import (
    Checked,
    apply_contract,
    apply_hard,
    apply_soft,
    apply_whole,
    coerce_model,
)
from platform_assets.pipeline.download import AllSourcesFailed, Download, ask
from platform_assets.pipeline.fuse import Fused, fuse
from platform_assets.pipeline.run import PipelineRun
from resources.errors import PlatformError, QualityError
from resources.fetch import Fetch, FetchLog
from resources.transport.redact import redact
from resources.warehouse.slices import Slice
from resources.warehouse.writer import Batch, Quality, WriteResult


@dataclass
class Loaded:
    """What one load did: per-partition results, sources, check counts and a preview of the rows."""

    table: Table
    results: list[WriteResult] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    checks: dict[str, dict[str, int]] = field(default_factory=dict)
    """partition -> {check: failing rows}."""
    whole: dict[str, list[Quality]] = field(default_factory=dict)
    preview: pd.DataFrame = field(default_factory=pd.DataFrame)
    calls: dict[str, int] = field(default_factory=dict)

    def of(self, partition: str) -> WriteResult | None:
        return next((item for item in self.results if item.partition_key == partition), None)


@dataclass
class _Part:
    """Rows of one partition, ready to write."""

    key: str
    frame: pd.DataFrame
    where: Slice
    rejected: int = 0
    quality: list[Quality] = field(default_factory=list)
    public_at: list[str | None] | None = None


def load_raw(run: PipelineRun, raw: Raw, scope: Scope) -> Loaded:
    """Download a RAW table for a scope."""
    table = raw.table
    loaded = Loaded(table)
    try:
        download = ask(
            raw.sources,
            run.desk_for(FetchLog()),
            scope,
            ask_all=raw.combine == "all",
            expected=raw.expected,
            date_column=raw.date_column,
        )
    except AllSourcesFailed as error:
        _refuse(run, table, scope, str(error), error.download)
        raise
    extra = [name for name in ("src", "payload") if name == "src" or table.payload]
    clean, destroyed = coerce_model(download.frame, raw.model, extra)
    checked = apply_hard(clean, raw.model, _key_with_src(table), destroyed)
    try:
        checked = apply_contract(checked, raw.contract, _key_with_src(table), run.context(scope))
        if checked.frame.empty and len(clean):
            raise QualityError(f"{table.name}: no row is left for {scope.until}", dataset=raw.name)
    except PlatformError as error:
        _refuse(run, table, scope, str(error), download, quality=checked.quality)
        raise
    parts = (
        list(_groups(raw.replace_by, checked.frame, scope))
        if raw.replace_by
        else list(_parts(raw.partition, raw.date_column, checked.frame, scope))
    )
    _assign(parts, checked, raw.date_column)
    _write_parts(run, table, loaded, parts, download, facts={}, replace=bool(raw.replace_by))
    return loaded


def load_stage(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Clean the RAW feeds of a dataset into its staging table, one row per source."""
    table = dataset.stage_table
    loaded = Loaded(table)
    context = run.context(scope)
    frames = []
    inputs = []
    for feed, stage in dataset.feeds.items():
        raw = run.registry.raws[feed]
        rows = run.warehouse.frame(feed, where=_raw_slice(raw, scope))
        if rows.empty:
            continue
        inputs.append(_input(feed, rows, raw.date_column))
        frames.append(stage(rows, context))
    if not frames:
        raise QualityError(f"{table.name}: no RAW rows for {scope.until}", dataset=dataset.name)
    joined = pd.concat(frames, ignore_index=True)
    clean, _ = coerce(joined, table.columns)
    clean["src"] = joined["src"]
    whole_key = list(table.key)
    valid = clean[clean[whole_key].notna().all(axis=1)]
    rejected = len(clean) - len(valid)
    valid = valid.drop_duplicates(subset=whole_key, keep="first").reset_index(drop=True)
    partition = Partition.SNAPSHOT if dataset.dimension else dataset.partition
    parts = list(_parts(partition, dataset.date_column, valid, scope))
    if parts:
        parts[-1].rejected = rejected
    _write_parts(run, table, loaded, parts, None, facts={"inputs": inputs, "fusion_type": dataset.name})
    return loaded


def load_fused(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Fuse a dataset for a scope: sources or staging rows -> one checked row per key."""
    table = dataset.table
    loaded = Loaded(table)
    context = run.context(scope)
    download: Download | None = None
    inputs: list[dict[str, Any]] = []
    if dataset.staged:
        rows, inputs = _staged(run, dataset, scope)
    else:
        try:
            rule = dataset.fuse
            download = ask(
                dataset.sources,
                run.desk_for(FetchLog()),
                scope,
                also=rule.finer_source if isinstance(rule, Rows) else "",
                expected=dataset.expected,
                date_column=dataset.date_column if dataset.partition is Partition.TRADE_DATE else None,
            )
        except AllSourcesFailed as error:
            _refuse(run, table, scope, str(error), error.download, dataset)
            raise
        rows = download.frame
    try:
        parts = _fused_parts(dataset, rows, context, scope, loaded)
    except PlatformError as error:
        _refuse(run, table, scope, str(error), download, dataset)
        raise
    facts = {"inputs": inputs, "fusion_type": dataset.name, "domain": dataset.domain}
    rank = {name: place for place, name in enumerate(dataset.source_order)}
    _write_parts(run, table, loaded, parts, download, facts=facts, source_rank=rank)
    return loaded


# -- steps ------------------------------------------------------------------------------------------


def _fused_parts(
    dataset: Dataset, rows: pd.DataFrame, context: Context, scope: Scope, loaded: Loaded
) -> list[_Part]:
    assert dataset.model is not None  # noqa: S101  a dataset without a model has no fused load
    clean, destroyed = coerce_model(rows, dataset.model, ["src"])
    if dataset.date_column and dataset.partition is Partition.TRADE_DATE:
        inside = clean[dataset.date_column].isin(list(scope.dates)).to_numpy()
        clean, destroyed = clean[inside], {name: mask[inside] for name, mask in destroyed.items()}
    entry = apply_hard(clean, dataset.model, (*dataset.key, "src"), destroyed)
    entry = apply_contract(entry, dataset.contract, (*dataset.key, "src"), context)
    if dataset.layer is not Layer.DWD:
        fused = Fused(entry.frame, [set() for _ in range(len(entry.frame))])
    else:
        fused = fuse(entry.frame, dataset.key, dataset.source_order, dataset.fuse)
    frame = fused.frame
    marks = "_flags"
    frame[marks] = [sorted(item) for item in fused.flags] if fused.flags else [[] for _ in range(len(frame))]
    for derive in dataset.derive:
        frame = derive(frame, context)
    extra = [name for name in ("src", "provenance", marks) if name in frame.columns]
    typed, destroyed = coerce_model(frame, dataset.model, extra)
    final = apply_hard(typed, dataset.model, dataset.key, destroyed)
    flags = [set(item) for item in final.frame[marks]]
    soft = apply_soft(final.frame.drop(columns=marks), dataset.soft, dataset.key, context, flags)
    merged = Checked(
        frame=soft.frame,
        rejected=entry.rejected + final.rejected,
        quality=[*entry.quality, *final.quality, *soft.quality],
    )
    if merged.frame.empty and dataset.may_be_empty:
        return [_Part(scope.until, merged.frame, Slice(codes=()), merged.rejected, merged.quality)]
    if merged.frame.empty:
        raise QualityError(f"{dataset.table_name}: no row is left for {scope.until}", dataset=dataset.name)
    partition = dataset.partition
    parts = list(_parts(partition, dataset.date_column, merged.frame, scope))
    if partition is Partition.TRADE_DATE:
        missing = sorted(set(scope.dates) - {part.key for part in parts})
        if missing:
            raise QualityError(
                f"{dataset.table_name}: no row for {', '.join(missing[:5])}", dataset=dataset.name
            )
    _assign(parts, merged, dataset.date_column)
    names = sorted({*entry.counts, *final.counts, *soft.counts})
    for part in parts:
        loaded.checks[part.key] = dict.fromkeys(names, 0)
        for item in part.quality:
            if item.natural_key is None:
                loaded.checks[part.key][item.check] = item.failed_count
        loaded.whole[part.key] = apply_whole(part.frame, dataset.whole, context)
        part.quality += loaded.whole[part.key]
        if dataset.public_at is not None and dataset.layer is Layer.DWD:
            part.public_at = dataset.public_at(part.frame, context).tolist()
    return parts


def _parts(
    partition: Partition, date_column: str | None, frame: pd.DataFrame, scope: Scope
) -> Iterator[_Part]:
    """Cut a frame into what one transaction writes."""
    if frame.empty:
        return
    if partition is Partition.TRADE_DATE and date_column:
        for day, rows in frame.groupby(date_column, sort=True):
            where = Slice.of_date(date_column, str(day), scope.codes)
            yield _Part(str(day), rows.reset_index(drop=True), where)
    elif partition is Partition.SNAPSHOT and scope.codes is None:
        yield _Part(scope.until, frame, Slice())
    else:
        codes = sorted(set(frame["code"].dropna().tolist()))
        yield _Part(scope.until, frame, Slice.of_codes(codes))


def _groups(columns: tuple[str, ...], frame: pd.DataFrame, scope: Scope) -> Iterator[_Part]:
    """One part per group that a download replaces whole, so that a source that failed loses nothing."""
    for values, rows in frame.groupby(list(columns), sort=True):
        equal = tuple(zip(columns, (str(value) for value in values), strict=True))
        where = Slice(equal=equal, codes=scope.codes)
        yield _Part(scope.until, rows.reset_index(drop=True), where)


def _assign(parts: Sequence[_Part], checked: Checked, date_column: str | None) -> None:
    """Give each partition its own quality records; without a date they go to the last one."""
    if not parts:
        return
    by_key = {part.key: part for part in parts}
    if len(by_key) < len(parts):
        date_column = None  # groups of one download share their date: what failed goes to the last one
    totals: dict[tuple[str, str], list[Quality]] = {}
    for item in checked.quality:
        if item.natural_key is None:
            continue
        part = parts[-1]
        if date_column and f'"{date_column}":"' in item.natural_key:
            day = item.natural_key.split(f'"{date_column}":"', 1)[1][:10]
            part = by_key.get(day, parts[-1])
        part.quality.append(item)
        totals.setdefault((part.key, item.check), []).append(item)
    for (partition, check), items in totals.items():
        part = by_key[partition]
        if items[0].action == "rejected":
            part.rejected += len(items)
        size = len(part.frame) + (len(items) if items[0].action == "rejected" else 0)
        part.quality.append(
            Quality(
                check=check,
                severity=items[0].severity,
                action=items[0].action,
                message=items[0].message or f"{len(items)} of {size} rows",
                failed_count=len(items),
                total_count=size,
            )
        )


def _write_parts(
    run: PipelineRun,
    table: Table,
    loaded: Loaded,
    parts: Sequence[_Part],
    download: Download | None,
    *,
    facts: dict[str, Any],
    source_rank: dict[str, int] | None = None,
    replace: bool = False,
) -> None:
    if download and parts:
        parts[-1].quality += _refused(download)
    fetches: Sequence[Fetch] = download.log.items if download else ()
    sources = download.sources if download else []
    loaded.sources = sources
    loaded.calls = download.log.calls() if download else {}
    common = {**run.batch_facts(), **facts, "sources": sources}
    parent: Batch | None = None
    if len(parts) > 1 and fetches:
        key = f"{parts[0].key}..{parts[-1].key}"
        parent = Batch(partition_key=key, **common)
        run.warehouse.writer.open_parent(table, parent, fetches)
        common["sources"] = [{k: v for k, v in item.items() if k != "fetch_ids"} for item in sources]
    for part in parts:
        batch = Batch(
            partition_key=part.key,
            codes_count=len(part.frame),
            parent_batch_id=parent.batch_id if parent else None,
            checks=loaded.checks.get(part.key, {}),
            **common,
        )
        loaded.results.append(
            run.warehouse.writer.write(
                table,
                part.frame,
                where=part.where,
                batch=batch,
                rejected=part.rejected,
                quality=part.quality,
                fetches=() if parent else fetches,
                lease=run.lease,
                public_at=part.public_at,
                source_rank=source_rank,
                replace=replace,
            )
        )
        run.progress(f"{table.name} {part.key}")
    if parent:
        run.warehouse.writer.close_parent(parent.batch_id, loaded.results)
    loaded.preview = parts[-1].frame.head(5) if parts else empty_frame(table.columns)


def _refuse(
    run: PipelineRun,
    table: Table,
    scope: Scope,
    error: str,
    download: Download | None,
    dataset: Dataset | None = None,
    quality: Sequence[Quality] = (),
) -> None:
    """Keep a record of a batch that was refused before any data write."""
    batch = Batch(
        partition_key=scope.until,
        fusion_type=dataset.name if dataset else None,
        domain=dataset.domain if dataset else None,
        sources=download.sources if download else [],
        **run.batch_facts(),
    )
    answers = [
        Quality("source_answer", "contract", "recorded", f"{item['src']}: {item['reason']}")
        for item in (download.sources if download else [])
        if item.get("error")
    ]
    kept = [*answers, *(_refused(download) if download else []), *quality]
    run.warehouse.writer.record_failure(
        table, batch, error, quality=kept, fetches=download.log.items if download else ()
    )


def _refused(download: Download) -> list[Quality]:
    """Single answers that were not believed, and a summary of them."""
    if not download.refused:
        return []
    records = [
        Quality(
            "source_answer",
            "contract",
            "rejected",
            f"{source}: {redact(reason)}"[:500],
            natural_key=canonical_json({"answer": item}),
            code=item[-6:],
            sources=[source],
        )
        for source, item, reason in download.refused
    ]
    summary = f"{len(records)} answers were not believed; {records[0].message}"
    return [
        *records,
        Quality("source_answer", "contract", "rejected", summary[:500], failed_count=len(records)),
    ]


def _staged(run: PipelineRun, dataset: Dataset, scope: Scope) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    table = dataset.stage_table
    where = (
        Slice(codes=scope.codes)
        if dataset.dimension or not dataset.date_column
        else Slice(date_column=dataset.date_column, since=scope.since, until=scope.until, codes=scope.codes)
    )
    rows = run.warehouse.frame(table.name, where=where)
    if rows.empty:
        raise QualityError(f"{table.name}: nothing is staged for {scope.until}", dataset=dataset.name)
    return rows, [_input(table.name, rows, dataset.date_column)]


def _raw_slice(raw: Raw, scope: Scope) -> Slice:
    if raw.date_column is None:
        return Slice(codes=scope.codes)
    return Slice(date_column=raw.date_column, since=scope.since, until=scope.until, codes=scope.codes)


def _input(table: str, rows: pd.DataFrame, date_column: str | None) -> dict[str, Any]:
    batches = sorted(set(rows["batch_id"].dropna().tolist()))
    newest = rows[date_column].dropna().max() if date_column else None
    return {"table": table, "batch_ids": batches[:50], "rows": len(rows), "max_date": newest}


def _key_with_src(table: Table) -> tuple[str, ...]:
    return table.key if "src" in table.key else (*table.key, "src")
