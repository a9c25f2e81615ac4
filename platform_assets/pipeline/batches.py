"""How the parts of a load become batches: one transaction for as many as fit, a parent for a range, and a
record of what was refused."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json, empty_frame
from core.declaration.scope import Scope
from core.declaration.tables import Table
from core.errors import StorageError
from platform_assets.pipeline.download import Download
from platform_assets.pipeline.missing_parts import in_words
from platform_assets.pipeline.run import PipelineRun, Refusal
from platform_assets.pipeline.slices import Part
from resources.redact import redact
from resources.warehouse.batch_records import MAX_QUALITY_ROWS, Batch, Quality
from resources.warehouse.writer import MAX_ROWS, Piece, WriteResult

log = logging.getLogger(__name__)
_MOST_NAMED = 40


@dataclass
class Loaded:
    """Results of one load: per-partition results, sources, check counts and a preview of the rows."""

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
    nothing: str = "there is nothing of this date"
    """What a date without a row says."""
    not_served: dict[str, str] = field(default_factory=dict)
    """Codes, dates or parts of the table that no source answered for -> why."""
    not_loaded: dict[str, str] = field(default_factory=dict)
    """Trade dates that were asked for and are not loaded -> why."""
    not_out: dict[str, str] = field(default_factory=dict)
    """Trade dates that were asked for and whose figures are published later -> when."""

    def of(self, partition: str) -> WriteResult | None:
        return next((item for item in self.results if item.partition_key == partition), None)


def write_parts(
    run: PipelineRun,
    loaded: Loaded,
    parts: Sequence[Part],
    download: Download | None,
    *,
    facts: dict[str, Any],
    fused: Dataset | None = None,
    replace: bool = False,
) -> None:
    """Write the parts of the table of `loaded`, which gets the results. `fused`: the declaration, of a fused
    table. `replace`: stored rows that the parts lack are withdrawn."""
    table = loaded.table
    source_rank = None
    if fused is not None:
        facts = {**facts, "fusion_type": fused.name, "domain": fused.domain}
        source_rank = {name: place for place, name in enumerate(fused.source_order)}
    given = download or Download(pd.DataFrame())
    if parts:
        parts[-1].quality += [*_refused(given), *_not_served(given.not_served)]
        parts[-1].rejected += given.odd_rows
    fetches, sources = given.log.items, given.sources
    loaded.sources, loaded.calls, loaded.not_served = sources, given.log.calls(), dict(given.not_served)
    for part in parts:
        part.quality += _not_served(part.missing)
        loaded.not_served |= part.missing
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
                        missing=in_words(part.missing),
                        quality=part.quality,
                        fetches=own,
                        public_at=part.public_at,
                        later=fused.later if fused else (),
                        later_rows=part.later_rows,
                    )
                )
            loaded.results += run.warehouse.writer.write_all(
                table, pieces, lease=run.lease, source_rank=source_rank, replace=replace
            )
            for part in together:
                run.progress(f"{table.name} {part.key}")
    except BaseException as error:  # an interrupt as well: nothing else would close the parent
        if parent:
            _close_failed(run, parent, error)
        raise
    if parent:
        run.warehouse.writer.close_parent(parent.batch_id)
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


def _close_failed(run: PipelineRun, parent: Batch, error: BaseException) -> None:
    """Close the parent of a range that broke off; what its partitions committed stays."""
    reason = str(error) or type(error).__name__ if isinstance(error, Exception) else "interrupted"
    try:
        run.warehouse.writer.close_parent(parent.batch_id, error=reason)
    except StorageError as away:
        # The database is away, which is why the range broke off; the reaper closes the batch later.
        log.warning("batch %s stays open: %s", parent.batch_id, away.message)


def refuse(
    run: PipelineRun,
    table: Table,
    scope: Scope,
    error: str,
    download: Download | None,
    dataset: Dataset | None = None,
    quality: Sequence[Quality] = (),
) -> None:
    """Keep a record of a batch that was refused before any data write."""
    given = download or Download(pd.DataFrame())
    batch = Batch(
        partition_key=scope.until,
        fusion_type=dataset.name if dataset else None,
        domain=dataset.domain if dataset else None,
        sources=given.sources,
        **run.batch_facts(),
    )
    answers = [
        Quality("source_answer", "contract", "recorded", f"{item['src']}: {item['reason']}")
        for item in given.failed
    ]
    kept = [*answers, *_refused(given), *_not_served(given.not_served), *quality]
    run.warehouse.writer.record_failure(table, batch, error, quality=kept, fetches=given.log.items)
    run.refused.append(Refusal(batch.batch_id, batch.sources, kept))


def _refused(download: Download) -> list[Quality]:
    """Records of single answers that were refused, and a summary of them."""
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
    summary = f"{len(records)} answers were refused; {records[0].message}"
    return [
        *records,
        Quality("source_answer", "contract", "rejected", summary[:500], failed_count=len(records)),
    ]


def _not_served(reasons: Mapping[str, str]) -> list[Quality]:
    """Records of codes, dates or parts that no source answered for, and a summary that names them."""
    if not reasons:
        return []
    named = sorted(reasons)
    records = [
        Quality(
            "not_served",
            "contract",
            "recorded",
            redact(reasons[item])[:500],
            natural_key=canonical_json({"answer": item}),
            code=item[:16],
        )
        for item in named[:MAX_QUALITY_ROWS]
    ]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    summary = f"no source answered for {', '.join(named[:_MOST_NAMED])}{more}"
    return [*records, Quality("not_served", "contract", "recorded", summary[:500], failed_count=len(named))]
