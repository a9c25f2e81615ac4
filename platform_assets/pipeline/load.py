"""The three loads: RAW from upstreams, STG from RAW, DWD (and reference tables) from STG or upstreams.

Each is a pure function between two frames plus one transactional write per partition. A range of trade
dates is fetched, derived and checked as one frame and written date by date.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from platform_assets.declaration.dataset import Dataset, Raw
from platform_assets.declaration.frames import canonical_json, coerce, empty_frame
from platform_assets.declaration.rules import Partition, Rows
from platform_assets.declaration.scope import Scope
from platform_assets.declaration.tables import Table
from platform_assets.pipeline.checks import (
    apply_contract,
    apply_hard,
    coerce_model,
)
from platform_assets.pipeline.download import AllSourcesFailed, Download, ask
from platform_assets.pipeline.fusing import NothingLeft, fused_parts
from platform_assets.pipeline.inputs import NotedReads, staged_input
from platform_assets.pipeline.parts import Part, assign_quality, group_parts, partition_parts, with_newest
from platform_assets.pipeline.repairs import ask_repairs
from platform_assets.pipeline.run import PipelineRun, Refusal
from platform_assets.pipeline.windows import Window
from platform_assets.pipeline.written import written_codes
from resources.errors import PlatformError, QualityError, StorageError
from resources.fetch import Fetch, FetchLog
from resources.stopping import safe_point
from resources.transport.redact import redact
from resources.warehouse.batch_records import Batch, Quality
from resources.warehouse.fading import Fading
from resources.warehouse.slices import Slice
from resources.warehouse.writer import MAX_ROWS, Piece, WriteResult

log = logging.getLogger(__name__)


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
    newest: pd.DataFrame = field(default_factory=pd.DataFrame)
    """All rows of the newest partition."""
    calls: dict[str, int] = field(default_factory=dict)

    def of(self, partition: str) -> WriteResult | None:
        return next((item for item in self.results if item.partition_key == partition), None)


def load_raw(run: PipelineRun, raw: Raw, scope: Scope) -> Loaded:
    """Download a RAW table for a scope."""
    table = raw.table
    loaded = Loaded(table)
    # A table without codes is of the market as a whole, also in a run that is limited to codes.
    scope = (scope if "code" in table.names else scope.whole).with_late(raw.late, run.calendar)
    try:
        download = ask(
            raw.sources,
            run.desk_for(FetchLog()),
            scope,
            ask_all=raw.combine == "all",
            expected=raw.expected,
            window=raw_window(run, raw, scope),
            may_be_unserved=raw.may_be_empty,
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
    if raw.keep_when_null:
        checked.frame = _keep_known(run, raw, checked.frame, scope)
    checked.frame = _first_told(run, table, raw_window(run, raw, scope), checked.frame)
    if len(raw.sources) > 1 and "src" not in raw.key:
        checked.frame = _keep_better(run, raw, checked.frame, scope)
    parts = (
        [
            *_stand_ins(run, raw, checked.frame, scope),
            *group_parts(raw.replace_by, raw.date_column, checked.frame, scope),
        ]
        if raw.replace_by
        else list(partition_parts(raw_window(run, raw, scope), checked.frame))
    )
    if raw.may_be_empty:
        parts = with_newest(parts, scope, checked.frame, late=raw.late)
    assign_quality(parts, checked, raw_window(run, raw, scope))
    _write_parts(
        run, table, loaded, parts, download, facts={}, replace=bool(raw.replace_by) or raw.makes_anew
    )
    return loaded


def _keep_known(run: PipelineRun, raw: Raw, frame: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Stored values of `keep_when_null` columns where this answer, of a poorer call, has none."""
    key = list(_key_with_src(raw.table))
    stored = run.warehouse.frame(
        raw.table_name, columns=(*key, *raw.keep_when_null), where=raw_window(run, raw, scope).slice()
    )
    known = frame[key].merge(stored, on=key, how="left")
    for column in raw.keep_when_null:
        frame[column] = frame[column].where(frame[column].notna(), known[column])
    return frame


def _first_told(run: PipelineRun, table: Table, window: Window, frame: pd.DataFrame) -> pd.DataFrame:
    """Without the rows of a loose table whose key is stored under an earlier day."""
    if not window.loose or frame.empty:
        return frame
    key, day = list(table.key), str(window.date_column)
    codes = tuple(sorted(set(frame["code"].dropna().tolist())))
    stored = run.warehouse.frame(table.name, columns=(*key, day), where=Slice.of_codes(codes))
    told = frame[key].merge(stored, on=key, how="left")[day].set_axis(frame.index)
    return frame[~window.repeats(frame[day], told)]


def _keep_better(run: PipelineRun, raw: Raw, frame: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """Without the rows that a better source tells, now or in what is stored: the key knows one row, whoever
    told it. Stored rows do not stand against what moves, nor against a group that is replaced whole."""
    rank = {source.name: place for place, source in enumerate(raw.sources)}
    key = list(raw.key)
    if raw.combine == "all":
        best = frame.assign(_rank=frame["src"].map(rank)).sort_values("_rank", kind="stable")
        frame = frame[frame.index.isin(best.drop_duplicates(key).index)]
    if raw.moves or raw.replace_by:  # of a group, a half would take the place of the stored whole
        return frame
    stored = run.warehouse.frame(
        raw.table_name, columns=(*key, "src"), where=raw_window(run, raw, scope).slice()
    )
    known = frame[key].merge(stored, on=key, how="left")["src"].map(rank).set_axis(frame.index)
    return frame[~(known < frame["src"].map(rank))]


def _stand_ins(run: PipelineRun, raw: Raw, frame: pd.DataFrame, scope: Scope) -> list[Part]:
    """Where the groups are those of a source: an empty part for each stored one that only stood in for the
    source that has answered now. Nobody would ask it again, so its rows would stay and age."""
    if "src" not in raw.replace_by or raw.combine == "all" or frame.empty:
        return []
    names = [source.name for source in raw.sources]
    worse = names[max(names.index(name) for name in frame["src"].unique()) + 1 :]
    groups = [Slice(equal=(("src", name),), codes=scope.codes) for name in worse]
    stored = [one for one in groups if len(run.warehouse.frame(raw.table_name, columns=("src",), where=one))]
    return [Part(scope.until, frame.iloc[:0], one) for one in stored]


def load_stage(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Clean the RAW feeds of a dataset into its staging table, one row per source."""
    table = dataset.stage_table
    loaded = Loaded(table)
    scope = written_codes(run, dataset, scope.with_late(dataset.late, run.calendar), tuple(dataset.feeds))
    context = run.context(scope)
    frames = []
    inputs = []
    for feed, stage in dataset.feeds.items():
        raw = run.registry.raws[feed]
        rows = run.warehouse.frame(feed, where=raw_window(run, raw, scope).slice())
        if rows.empty:
            continue
        inputs.append(staged_input(feed, rows, raw.date_column))
        frames.append(stage(rows, context))
    if not frames and not dataset.may_be_empty:
        missing = QualityError(f"{table.name}: no RAW rows for {scope.until}", dataset=dataset.name)
        _refuse(run, table, scope, str(missing), None, dataset)
        raise missing
    if not frames:
        empty = [Part(scope.until, empty_frame(table.columns), Slice(codes=()))]
        _write_parts(run, table, loaded, empty, None, facts={"fusion_type": dataset.name})
        return loaded
    joined = pd.concat(frames, ignore_index=True)
    clean, _ = coerce(joined, table.columns)
    clean["src"] = joined["src"]
    whole_key = list(table.key)
    valid = clean[clean[whole_key].notna().all(axis=1)]
    rejected = len(clean) - len(valid)
    if valid.duplicated(subset=whole_key).any():
        # Two feeds of one source complete each other: per column the first value, in the order of feeds.
        valid = valid.groupby(whole_key, sort=False, as_index=False).first()[list(clean.columns)]
    window = stage_window(run, dataset, scope)
    if window.dated:
        valid = _first_told(run, table, window, valid)
    parts = list(partition_parts(window, valid))
    if dataset.late:
        parts = with_newest(parts, scope, valid, late=dataset.late)
    if parts:
        parts[-1].rejected = rejected
    _write_parts(run, table, loaded, parts, None, facts={"inputs": inputs, "fusion_type": dataset.name})
    return loaded


def load_fused(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Fuse a dataset for a scope: sources or staging rows -> one checked row per key."""
    scope = scope if dataset.of_stocks else scope.whole
    table = dataset.table
    loaded = Loaded(table)
    scope = scope.with_late(dataset.late + dataset.revisits, run.calendar)
    if dataset.staged:
        scope = written_codes(run, dataset, scope, (dataset.stage_name,))
    context = run.context(scope)
    download: Download | None = None
    inputs: list[dict[str, Any]] = []
    if dataset.staged:
        try:
            rows, inputs = _staged(run, dataset, scope)
        except QualityError as error:
            _refuse(run, table, scope, str(error), None, dataset)
            raise
        window = Window.of(table, dataset.partition, scope, run.calendar)
        if window.dated:
            rows = _first_told(run, table, window, rows)
    else:
        reads = NotedReads(run.warehouse, run.read)
        try:
            rule = dataset.fuse
            download = ask(
                dataset.sources,
                run.desk.view(FetchLog(), read=reads),
                scope,
                ask_all=dataset.combine == "all",
                also=rule.finer_source if isinstance(rule, Rows) else "",
                expected=dataset.expected,
                window=Window.of(dataset.table, dataset.partition, scope, run.calendar),
            )
        except AllSourcesFailed as error:
            _refuse(run, table, scope, str(error), error.download, dataset)
            raise
        rows = download.frame
        # What was asked of an upstream walks back to its responses; what nobody was asked for, and columns
        # that have owners, to what was read.
        inputs = reads.inputs() if dataset.owners or not download.asked else []
    try:
        parts = fused_parts(dataset, rows, context, scope)
    except NothingLeft as error:
        _refuse(run, table, scope, str(error), download, dataset, error.quality)
        raise
    except PlatformError as error:
        _refuse(run, table, scope, str(error), download, dataset)
        raise
    facts = {"inputs": inputs, "fusion_type": dataset.name, "domain": dataset.domain}
    rank = {name: place for place, name in enumerate(dataset.source_order)}
    _write_parts(
        run,
        table,
        loaded,
        parts,
        download,
        facts=facts,
        source_rank=rank,
        replace=dataset.makes_codes_anew or dataset.calculate is not None,
        later=dataset.later,
        final=dataset.final,
    )
    for column, dates in dataset.short_lived.items():
        _fade(run, dataset, column, dates)
    if dataset.repairs is not None:
        ask_repairs(run, *dataset.repairs, frames=[part.frame for part in parts])
    return loaded


def _fade(run: PipelineRun, dataset: Dataset, column: str, dates: int) -> None:
    """Take the values away that have left the newest `dates` trade dates."""
    fading = Fading(run.warehouse.engine, run.clock)
    first = run.calendar.last(dates, run.clock.now().date().isoformat())[0]
    oldest = fading.oldest(dataset.table)
    if oldest is not None and oldest < first:
        older = run.calendar.between(oldest, run.calendar.offset(first, -1))
        fading.fade(dataset.table, column, older[::-1], run.batch_facts())


# -- steps ------------------------------------------------------------------------------------------


def _write_parts(
    run: PipelineRun,
    table: Table,
    loaded: Loaded,
    parts: Sequence[Part],
    download: Download | None,
    *,
    facts: dict[str, Any],
    source_rank: dict[str, int] | None = None,
    replace: bool = False,
    later: tuple[str, ...] = (),
    final: Callable[[pd.DataFrame], pd.Series] | None = None,
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
    own = () if parent else fetches
    parent_id = parent.batch_id if parent else None
    try:
        for together in _chunks(parts):
            safe_point()
            pieces = []
            for part in together:
                loaded.checks[part.key], loaded.whole[part.key] = part.checks, part.whole
                batch = Batch(
                    partition_key=part.key,
                    codes_count=len(part.frame),
                    parent_batch_id=parent_id,
                    checks=part.checks,
                    **common,
                )
                pieces.append(
                    Piece(
                        part.frame,
                        part.where,
                        batch,
                        rejected=part.rejected,
                        quality=part.quality,
                        fetches=own,
                        public_at=part.public_at,
                        later=later,
                        later_rows=part.later_rows,
                        final=final,
                    )
                )
            loaded.results += run.warehouse.writer.write_all(
                table, pieces, lease=run.lease, source_rank=source_rank, replace=replace
            )
            for part in together:
                run.progress(f"{table.name} {part.key}")
    except BaseException as error:  # an interrupt as well: nobody else would close the parent
        if parent:
            _close_failed(run, parent, loaded, error)
        raise
    if parent:
        run.warehouse.writer.close_parent(parent.batch_id, loaded.results)
    loaded.newest = parts[-1].frame if parts else empty_frame(table.columns)
    loaded.preview = loaded.newest.head(5)


def _chunks(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Parts that one transaction writes: as many as stay below MAX_ROWS, at least one."""
    chunk: list[Part] = []
    rows = 0
    for part in parts:
        if chunk and rows + len(part.frame) > MAX_ROWS:
            yield chunk
            chunk, rows = [], 0
        chunk.append(part)
        rows += len(part.frame)
    if chunk:
        yield chunk


def _close_failed(run: PipelineRun, parent: Batch, loaded: Loaded, error: BaseException) -> None:
    """Close the parent of a range that broke off; what its partitions committed stays."""
    reason = str(error) or type(error).__name__
    try:
        run.warehouse.writer.close_parent(parent.batch_id, loaded.results, error=reason)
    except StorageError as away:
        # The database is away, which is why the range broke off; the reaper closes the batch later.
        log.warning("batch %s stays open: %s", parent.batch_id, away.message)


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
    run.refused.append(Refusal(batch.batch_id, batch.sources, kept))


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
    rows = run.warehouse.frame(table.name, where=stage_window(run, dataset, scope).slice())
    if rows.empty and not dataset.may_be_empty:
        raise QualityError(f"{table.name}: nothing is staged for {scope.until}", dataset=dataset.name)
    return rows, [staged_input(table.name, rows, dataset.date_column)]


def raw_window(run: PipelineRun, raw: Raw, scope: Scope) -> Window:
    """The part of a RAW table that a scope stands for."""
    return Window.of(raw.table, raw.partition, scope, run.calendar)


def stage_window(run: PipelineRun, dataset: Dataset, scope: Scope) -> Window:
    """The part of a staging table that a scope stands for; dimensions have no time."""
    partition = Partition.SNAPSHOT if dataset.dimension else dataset.partition
    return Window.of(dataset.stage_table, partition, scope, run.calendar)


def _key_with_src(table: Table) -> tuple[str, ...]:
    return table.key if "src" in table.key else (*table.key, "src")
