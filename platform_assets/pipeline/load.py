"""The three loads: RAW from upstreams, STG from RAW, DWD (and reference tables) from STG or upstreams.

Each is a pure function between two frames plus one transactional write per partition. A range of trade
dates is fetched, derived and checked as one frame and written date by date.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.declaration.dataset import Dataset, Raw
from core.declaration.frames import coerce, empty_frame
from core.declaration.rules import Partition, Repairs, Rows, as_received
from core.declaration.scope import Context, Scope
from core.declaration.tables import Table
from core.errors import PlatformError, QualityError
from platform_assets.pipeline import empty_dates, missing_parts, needed_tables, stored_rows
from platform_assets.pipeline.batches import Loaded, refuse, write_parts
from platform_assets.pipeline.checks import apply_contract, apply_hard, coerce_model
from platform_assets.pipeline.download import AllSourcesFailed, Download, ask
from platform_assets.pipeline.failed_inputs import must_have_loaded_one
from platform_assets.pipeline.fused_rows import NothingLeft, fused_parts
from platform_assets.pipeline.imported_rows import with_imported_rows, with_imports
from platform_assets.pipeline.inputs import NotedReads, staged_input
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import (
    Part,
    assign_quality,
    by_years,
    group_parts,
    partition_parts,
    with_newest,
)
from platform_assets.pipeline.windows import Window
from resources.fetch_record import FetchLog
from resources.orchestrator import CODES_TAG
from resources.warehouse.column_retention import ColumnRetention
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.slices import Slice


def load_raw(run: PipelineRun, raw: Raw, scope: Scope, *, empty_is_answer: bool = False) -> Loaded:
    """Download a RAW table for a scope. `empty_is_answer`: that no source has rows of the codes is an
    answer."""
    table = raw.table
    loaded = Loaded(table)
    run.refuse_unfinished(table.name, scope)
    # A table without codes is of the market as a whole, also in a run that is limited to codes.
    scope = run.scope_of(scope if "code" in table.names else scope.whole, raw.late)
    window = raw_window(run, raw, scope)
    declared, now = run.registry.trade_days[table.name], run.clock.now()
    try:
        download = ask(
            raw.sources,
            run.context_for(FetchLog()),
            scope,
            ask_all=raw.combine == "all",
            expected=raw.expected,
            window=window,
            may_be_unserved=raw.may_be_empty,
            empty_is_answer=empty_is_answer,
            of_stocks=run.registry.of_table(table.name).of_stocks and "index_code" not in table.names,
            not_listed=run.not_listed,
            is_out=lambda day: declared.not_out(day, now, run.calendar) is None,
        )
    except AllSourcesFailed as error:
        refuse(run, table, scope, str(error), error.download)
        raise
    if empty_is_answer and download.frame.empty and not raw.may_be_empty:
        loaded.sources = download.sources
        return loaded
    extra = [name for name in ("src", "payload") if name == "src" or table.payload]
    clean, destroyed = coerce_model(download.frame, raw.model, extra)
    checked = apply_hard(clean, raw.model, stored_rows.key_with_src(table), destroyed)
    try:
        checked = apply_contract(checked, raw.contract, stored_rows.key_with_src(table), run.context(scope))
        if checked.frame.empty and len(clean):
            raise QualityError(f"{table.name}: no row is left for {scope.until}", dataset=raw.name)
    except PlatformError as error:
        refuse(run, table, scope, str(error), download, quality=checked.quality)
        raise
    if raw.coalesce_with_stored:
        checked.frame = stored_rows.coalesce_with_stored(run, raw, window, checked.frame)
    checked.frame = stored_rows.first_reported(run, table, window, checked.frame)
    if len(raw.sources) > 1 and "src" not in raw.key:
        checked.frame = stored_rows.keep_better(run, raw, window, checked.frame)
    parts = (
        [
            *stored_rows.withdrawn_fallbacks(run, raw, checked.frame, scope),
            *group_parts(raw.replace_by, raw.date_column, checked.frame, scope),
        ]
        if raw.replace_by
        else list(partition_parts(window, checked.frame))
    )
    dated = empty_dates.is_dated(run, loaded, scope)
    if dated:
        parts = empty_dates.with_answers(
            run, loaded, parts, scope, empty_dates.of_sources(download, raw.sources)
        )
        loaded.nothing = f"{', '.join(download.answering)} answered that there is nothing of this date"
    elif raw.may_be_empty:
        parts = with_newest(parts, scope, checked.frame, late=raw.late)
    assign_quality(parts, checked, window)
    missing_parts.mark(parts, download.missing)
    replace = bool(raw.replace_by or raw.replace)
    written = parts if replace else by_years(parts, window)
    write_parts(run, loaded, written, download, facts={}, replace=replace)
    if dated:
        empty_dates.refuse_not_loaded(run, loaded, scope, download)
    return loaded


def load_stage(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Clean the RAW feeds of a dataset into its staging table, one row per source."""
    table = dataset.stage_table
    loaded = Loaded(table)
    run.refuse_unfinished(table.name, scope)
    scope = stored_rows.written_codes(run, dataset, run.scope_of(scope, dataset.late), tuple(dataset.feeds))
    context = run.context(scope)
    _need_feeds(run, dataset, scope)
    frames = []
    inputs = []
    for feed, stage in dataset.feeds.items():
        raw = run.registry.raws[feed]
        rows = run.warehouse.frame(feed, where=raw_window(run, raw, scope).slice())
        if rows.empty:
            continue
        inputs.append(staged_input(feed, rows, raw.date_column))
        frames.append(stage(rows, context))
    why_not = empty_dates.of_tables(run, scope, dataset.feeds, every=False)
    if not frames and not dataset.may_be_empty:
        problem = QualityError(
            f"{table.name}: {why_not(scope.until) or f'no RAW rows of {scope.until}'}", dataset=dataset.name
        )
        refuse(run, table, scope, str(problem), None, dataset)
        raise problem
    facts: dict[str, Any] = {"inputs": inputs, "fusion_type": dataset.name}
    if not frames:
        nothing = [Part(scope.until, empty_frame(table.columns), Slice(codes=()))]
        return _write_stage(run, loaded, dataset, scope, nothing, facts, why_not)
    joined = pd.concat(frames, ignore_index=True)
    typed = _typed_when_read(run, dataset)
    clean = joined[[spec.name for spec in table.columns]] if typed else coerce(joined, table.columns)[0]
    clean["src"] = joined["src"]
    whole_key = list(table.key)
    valid = clean[clean[whole_key].notna().all(axis=1)]
    rejected = len(clean) - len(valid)
    if valid.duplicated(subset=whole_key).any():
        # Two feeds of one source complete each other: per column the first value, in the order of feeds.
        valid = valid.groupby(whole_key, sort=False, as_index=False).first()[list(clean.columns)]
    window = stage_window(run, dataset, scope)
    if window.dated:
        valid = stored_rows.first_reported(run, table, window, valid)
    parts = list(partition_parts(window, valid))
    if parts:
        parts[-1].rejected = rejected
    return _write_stage(run, loaded, dataset, scope, parts, facts, why_not)


def _write_stage(
    run: PipelineRun,
    loaded: Loaded,
    dataset: Dataset,
    scope: Scope,
    parts: list[Part],
    facts: dict[str, Any],
    why_not: empty_dates.WhyNot,
) -> Loaded:
    """Write staged rows, with the dates of which it is an answer that there is nothing and those of which
    the feeds lack a part."""
    dated = empty_dates.is_dated(run, loaded, scope)
    if dated:
        parts = empty_dates.with_answers(run, loaded, parts, scope, why_not)
        missing_parts.mark(parts, missing_parts.of_feeds(run, dataset, scope))
    write_parts(run, loaded, by_years(parts, stage_window(run, dataset, scope)), None, facts=facts)
    if dated:
        empty_dates.refuse_not_loaded(run, loaded, scope, None, dataset)
    return loaded


def _typed_when_read(run: PipelineRun, dataset: Dataset) -> bool:
    """Whether the staged rows are those of one RAW table as they are: reading it converted every column to
    the type that the staging table has."""
    feed, *others = dataset.feeds
    raw = run.registry.raws[feed].table
    return (
        not others
        and dataset.feeds[feed] is as_received
        and {(spec.name, spec.column_type, spec.scale) for spec in dataset.stage_table.columns}
        <= {(spec.name, spec.column_type, spec.scale) for spec in raw.columns}
    )


def load_fused(run: PipelineRun, dataset: Dataset, scope: Scope) -> Loaded:
    """Fuse a dataset for a scope: sources or staging rows -> one checked row per key."""
    scope = scope if dataset.of_stocks else scope.of_indices
    run.refuse_unfinished(dataset.table_name, scope)
    dataset = with_imports(run, dataset)
    table = dataset.table
    loaded = Loaded(table)
    scope = run.scope_of(scope, dataset.late + dataset.revisits)
    if dataset.staged:
        scope = stored_rows.written_codes(run, dataset, scope, (dataset.stage_name,))
    stored = run.reads_of(dataset)
    context = run.context(scope, stored)
    window = Window.of(table, dataset.partition, scope, run.calendar)
    download: Download | None = None
    inputs: list[dict[str, Any]] = []
    if dataset.staged:
        try:
            rows, inputs = _staged(run, dataset, scope)
        except QualityError as error:
            refuse(run, table, scope, str(error), None, dataset)
            raise
        if window.dated:
            rows = stored_rows.first_reported(run, table, window, rows)
    else:
        reads = NotedReads(run.warehouse, stored)
        try:
            rule = dataset.fuse
            download = ask(
                dataset.sources,
                run.context_for(FetchLog(), reads),
                scope,
                ask_all=dataset.combine == "all",
                also=rule.finer_source if isinstance(rule, Rows) else "",
                expected=dataset.expected,
                window=window,
                of_stocks=dataset.of_stocks,
                not_listed=run.not_listed,
            )
        except AllSourcesFailed as error:
            refuse(run, table, scope, str(error), error.download, dataset)
            raise
        rows = download.frame
        # Lineage of what an upstream was asked for leads to its responses; that of all else, and of columns
        # that have owners, to the stored rows that were read.
        inputs = reads.inputs() if dataset.owners or not download.asked else []
        rows = with_imported_rows(run, dataset, scope, rows)
    parts = _checked_parts(run, loaded, dataset, rows, context, download)
    needed_tables.withhold(run, dataset, parts, scope)
    whole = dataset.replace is not None or dataset.calculate is not None
    if download is not None:
        missing_parts.mark(parts, download.missing)
    elif empty_dates.is_dated(run, loaded, scope):
        missing_parts.mark(parts, missing_parts.of_stage(run, dataset, scope))
    written = parts if whole else by_years(parts, window)
    write_parts(run, loaded, written, download, facts={"inputs": inputs}, fused=dataset, replace=whole)
    if empty_dates.is_dated(run, loaded, scope):
        empty_dates.refuse_not_loaded(run, loaded, scope, download, dataset)
    _after(run, dataset, parts, context)
    return loaded


def _checked_parts(
    run: PipelineRun,
    loaded: Loaded,
    dataset: Dataset,
    rows: pd.DataFrame,
    context: Context,
    download: Download | None,
) -> list[Part]:
    """What a fused load writes, with the dates of which it is an answer that there is nothing."""
    table, scope = loaded.table, context.scope
    try:
        parts = fused_parts(dataset, rows, context, scope)
    except PlatformError as error:
        quality = error.quality if isinstance(error, NothingLeft) else ()
        if download is not None and download.failed:
            # A later source answered, and not with this.
            error.message += f" ({download.why_failed})"
        refuse(run, table, scope, error.message, download, dataset, quality)
        raise
    if empty_dates.is_dated(run, loaded, scope):
        why_not = _why_not(run, dataset, scope, download)
        parts = empty_dates.with_answers(run, loaded, parts, scope, why_not)
    elif scope.codes is not None and scope.is_range:
        parts = _worth_writing(run, table, parts, scope)
    return parts


def _need_feeds(run: PipelineRun, dataset: Dataset, scope: Scope) -> None:
    table = dataset.stage_table
    try:
        must_have_loaded_one(run, table.name, dataset, dataset.feeds, scope)
    except QualityError as error:
        refuse(run, table, scope, error.message, None, dataset)
        raise


def _after(run: PipelineRun, dataset: Dataset, parts: Sequence[Part], context: Context) -> None:
    """What follows a load: older values of short-lived columns go, what it found elsewhere is asked for."""
    for column, dates in dataset.short_lived.items():
        _drop_older_values(run, dataset, column, dates)
    if dataset.repairs is not None:
        ask_repairs(run, context, *dataset.repairs, frames=[part.frame for part in parts])


def _why_not(
    run: PipelineRun, dataset: Dataset, scope: Scope, download: Download | None
) -> empty_dates.WhyNot:
    if dataset.staged:
        return empty_dates.of_stage(run, scope, dataset)
    if dataset.calculate is not None:
        return empty_dates.of_tables(run, scope, empty_dates.needed(run, dataset), every=True)
    if dataset.may_be_empty and download is not None:
        return empty_dates.of_sources(download, dataset.sources)
    return lambda day: f"no source has rows of {day}"


def _worth_writing(run: PipelineRun, table: Table, parts: list[Part], scope: Scope) -> list[Part]:
    """The parts without empty dates of a range of codes that have no stored rows: a stock is on the billboard
    on few days of a year, and each date would be a batch."""
    if table.date_column is None:
        return parts
    mine = Slice(date_column=table.date_column, since=scope.since, until=f"{scope.until} 23:59:59",
                 codes=scope.codes)  # fmt: skip
    stored = run.warehouse.frame(table.name, columns=[table.date_column], where=mine)[table.date_column]
    days = set(stored.astype(str).str[:10])
    return [part for part in parts if len(part.frame) or part.key in days or part.key == scope.until]


def _drop_older_values(run: PipelineRun, dataset: Dataset, column: str, dates: int) -> None:
    """Sets a column to null on dates before the newest `dates` trade dates."""
    column_retention = ColumnRetention(run.warehouse.engine, run.clock)
    first = run.calendar.last(dates, run.clock.now().date().isoformat())[0]
    oldest = column_retention.oldest(dataset.table)
    if oldest is not None and oldest < first:
        older = run.calendar.between(oldest, run.calendar.offset(first, -1))
        column_retention.clear(dataset.table, column, older[::-1], run.batch_facts())


def _staged(run: PipelineRun, dataset: Dataset, scope: Scope) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    table = dataset.stage_table
    must_have_loaded_one(run, dataset.table_name, dataset, (table.name,), scope)
    rows = run.warehouse.frame(table.name, where=stage_window(run, dataset, scope).slice())
    if rows.empty and not dataset.may_be_empty:
        raise QualityError(
            f"{dataset.table_name}: nothing is staged for {scope.until}: load {table.name} of it first",
            dataset=dataset.name,
        )
    return rows, [staged_input(table.name, rows, dataset.date_column)]


def raw_window(run: PipelineRun, raw: Raw, scope: Scope) -> Window:
    """The part of a RAW table that a scope covers."""
    return Window.of(raw.table, raw.partition, scope, run.calendar)


def stage_window(run: PipelineRun, dataset: Dataset, scope: Scope) -> Window:
    """The part of a staging table that a scope covers; dimensions have no time."""
    partition = Partition.SNAPSHOT if dataset.dimension else dataset.partition
    return Window.of(dataset.stage_table, partition, scope, run.calendar)


ASKED_BY = "reconcile"


def ask_repairs(
    run: PipelineRun,
    context: Context,
    job: str,
    found: Repairs,
    then: str = "",
    *,
    frames: Sequence[pd.DataFrame],
) -> None:
    """One command per dates and codes, ever: what a second load does not mend is for a person. `then`: the
    job that calculates these dates again, of the whole market, when the codes are loaded."""
    queue = CommandQueue(run.warehouse.engine)
    for frame in frames:
        for (first, last), codes in found(frame, context).items():
            named = ",".join(codes)
            for name, tags in ((job, {CODES_TAG: named}), (then, {})):
                if not name:
                    continue
                args = {"job": name, "partition_range": [first, last], "trigger": "catchup", "tags": tags}
                mark = hashlib.sha256(f"{name} {first} {last} {named}".encode()).hexdigest()[:32]
                queue.enqueue("run_job", args, requested_by=ASKED_BY, idempotency_key=f"repair:{mark}")
                run.progress(f"{name} of {first} to {last} is asked for again, for {named}")
