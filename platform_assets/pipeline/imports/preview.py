"""A dry run: the first rows as they would be stored, what would be refused, how the rest compares with what
is stored. Nothing is written."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.dataset import Dataset
from platform_assets.pipeline.imports.loading import (
    MOST_NAMED,
    FileImport,
    Report,
    border_of_job,
    scope_of,
)
from platform_assets.pipeline.imports.rows import Refused
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.windows import Window
from resources.warehouse.ledger.imports import ImportKey, Imports, ranked

FIRST = 10
_SAME = 1e-9


@dataclass
class Comparison:
    """Rows of the file against the fused table: `new` keys, `equal` ones, ones with `different` values, and
    ones that stay as they are because a better source has them (`kept`)."""

    new: int = 0
    equal: int = 0
    different: int = 0
    kept: int = 0
    columns: dict[str, dict[str, float]] = field(default_factory=dict)
    """Column -> {rows that differ, largest relative difference}."""
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Preview:
    """What an import of the file would do."""

    source: str
    dataset: str
    order: tuple[str, ...]
    rows: int
    since: str
    until: str
    first: list[dict[str, Any]]
    refused: int
    reasons: dict[str, int]
    shown: list[dict[str, Any]]
    left_out: dict[str, str]
    """Files that would not be imported -> why."""
    compared: Comparison
    border: str | None = None
    """First day that would go to the warehouse, where the rows of before go into column files."""
    in_column_files: int = 0


def preview(job: FileImport, report: Report = lambda _step, _share: None) -> Preview:
    """Raises InputError for a file that cannot be read at all."""
    run, mapping = job.run, job.mapping
    key = ImportKey(mapping.name, mapping.dataset, job.origin.digest)
    spool, refused = job.spool, Refused()
    declared = job.dataset
    placed = Imports(run.warehouse.engine, run.clock).placed(declared.name)
    placed = [*((name, place) for name, place in placed if name != key.source), (key.source, mapping.place)]
    dataset = replace(declared, order=ranked(declared.source_order, placed))
    try:
        facts = job.read(spool, refused, report)
        months: dict[str, int] = facts["months"]
        compared = Comparison()
        first: list[dict[str, Any]] = []
        since = until = ""
        border, old = border_of_job(job), 0
        for at, month in enumerate(months, start=1):
            frame = spool.month(month)
            if not first:
                first, since = _plain(frame.head(FIRST)), str(frame[str(dataset.date_column)].min())
            since = min(since, str(frame[str(dataset.date_column)].min()))
            until = max(until, str(frame[str(dataset.date_column)].max()))
            old += 0 if border is None else int((frame[str(dataset.date_column)] < border).sum())
            _compare(run, dataset, frame.assign(src=key.source), compared)
            report("comparing", at / len(months))
    finally:
        spool.clear()
    return Preview(
        source=key.source,
        dataset=dataset.name,
        order=dataset.source_order,
        rows=sum(months.values()),
        since=since,
        until=until,
        first=first,
        refused=refused.rows,
        reasons=dict(refused.counts),
        shown=refused.shown,
        left_out=dict(list(refused.files.items())[:MOST_NAMED]),
        compared=compared,
        border=border,
        in_column_files=old,
    )


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows without their nulls."""
    return [
        {
            str(name): getattr(value, "item", lambda v=value: v)()
            for name, value in row.items()
            if not pd.isna(value)
        }
        for row in frame.to_dict("records")
    ]


def _compare(run: PipelineRun, dataset: Dataset, frame: pd.DataFrame, into: Comparison) -> None:
    key = list(dataset.key)
    scope = scope_of(run, dataset, frame)
    where = Window.of(dataset.table, dataset.partition, scope, run.calendar).slice()
    mapped = [
        spec
        for spec in dataset.stage_table.columns
        if spec.name not in (*key, "src") and frame[spec.name].notna().any()
    ]
    names = [spec.name for spec in mapped]
    stored = run.warehouse.frame(dataset.table_name, columns=(*key, "src", *names), where=where)
    both = frame[[*key, *names, "src"]].merge(stored, on=key, how="left", suffixes=("", "_stored"))
    known = both["src_stored"].notna().to_numpy()
    rank = {name: place for place, name in enumerate(dataset.source_order)}
    held, own = (both[name].map(rank).astype(float).to_numpy() for name in ("src_stored", "src"))
    better = held < own
    differs = np.zeros(len(both), dtype=bool)
    for spec in mapped:
        new, old = both[spec.name], both[f"{spec.name}_stored"]
        if spec.family in ("float", "int"):
            ours, theirs = (one.to_numpy(dtype=float, na_value=np.nan) for one in (new, old))
            if spec.scale is not None:
                ours = np.round(ours, spec.scale)
            gap = np.abs(ours - theirs) / np.maximum(np.abs(theirs), _SAME)
            own = known & (gap > _SAME)
            largest = float(np.nanmax(gap[own])) if own.any() else 0.0
        else:
            other = (new != old).fillna(False).to_numpy(dtype=bool)
            own, largest = known & new.notna().to_numpy(dtype=bool) & other, 0.0
        if own.any():
            report = into.columns.setdefault(spec.name, {"rows": 0, "largest": 0.0})
            report["rows"] += int(own.sum())
            report["largest"] = max(report["largest"], largest)
            for row in both[own].head(max(0, FIRST - len(into.examples))).to_dict("records"):
                place = {part: row[part] for part in key}
                into.examples.append(
                    {
                        **place,
                        "column": spec.name,
                        "file": row[spec.name],
                        "stored": row[f"{spec.name}_stored"],
                        "src": row["src_stored"],
                    }
                )
        differs |= own
    into.new += int((~known).sum())
    into.equal += int((known & ~differs).sum())
    into.kept += int((known & differs & better).sum())
    into.different += int((known & differs & ~better).sum())
