"""Makes the fused, derived and checked rows of a dataset from those of all sources. Pure but for reads."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.declaration.dataset import Dataset
from core.declaration.frames import empty_frame
from core.declaration.rules import Partition
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from core.errors import QualityError
from platform_assets.compute.nan_arithmetic import floats
from platform_assets.pipeline import checks
from platform_assets.pipeline.fusion_rules import Fused, fuse
from platform_assets.pipeline.slices import Part, assign_quality, partition_parts, with_empty, with_newest
from platform_assets.pipeline.windows import Window
from resources.warehouse.slices import Slice

_TINY = 1e-9


class NothingLeft(QualityError):
    """No row of a scope passed the checks; `quality` are the records of those that failed them."""

    def __init__(self, dataset: Dataset, scope: Scope, checked: checks.Checked) -> None:
        super().__init__(f"{dataset.table_name}: no row is left for {scope.until}", dataset=dataset.name)
        self.quality = checked.quality


def fused_parts(dataset: Dataset, rows: pd.DataFrame, context: Context, scope: Scope) -> list[Part]:
    """Rows of all sources (`src` set) -> what to write per partition. Raises NothingLeft when no row is
    left, QualityError when a trade date of the scope has none."""
    window = Window.of(dataset.table, dataset.partition, scope, context.calendar)
    entry = _accepted(dataset, rows, context, window)
    if entry.frame.empty and dataset.calculate is not None and not entry.rejected:
        return _withdrawn(window, entry.frame, scope.asked)
    if entry.frame.empty and dataset.may_be_empty and dataset.calculate is None and not entry.rejected:
        nothing = Part(scope.until, entry.frame, Slice(codes=()))
        by_date = window.dated and dataset.partition is not Partition.REPORT_PERIOD and scope.codes is None
        return with_empty([nothing], scope.dates[:-1] if by_date else (), entry.frame)
    if entry.frame.empty:
        raise NothingLeft(dataset, scope, entry)
    merged = _fused_rows(dataset, entry, context)
    if merged.frame.empty:
        raise NothingLeft(dataset, scope, merged)
    parts = list(partition_parts(window, merged.frame, dataset.table.moment))
    if window.dated and dataset.partition is not Partition.REPORT_PERIOD:
        missing = sorted(set(scope.dates) - {part.key for part in parts})
        if missing and dataset.calculate is not None:
            # A date whose rows were all rejected is not one of which nothing was found: what is stored of
            # it stays, and its records go with the newest part.
            found = {str(day) for lost in merged.dropped for day in lost[str(dataset.date_column)].dropna()}
            gone = [day for day in missing if day in scope.asked and day not in found]
            parts = sorted([*parts, *_withdrawn(window, merged.frame, gone)], key=lambda part: part.key)
            parts[-1].refused_days = frozenset(found.intersection(missing))
        elif missing and dataset.may_be_empty:
            parts = with_empty(parts, missing, merged.frame)
        elif missing and dataset.late:
            parts = with_newest(parts, scope, merged.frame, late=dataset.late)
        elif missing and scope.codes is None:
            raise QualityError(
                f"{dataset.table_name}: no row for {', '.join(missing[:5])}", dataset=dataset.name
            )
    assign_quality(parts, merged, window)
    for part in parts:
        part.whole = checks.apply_whole(part.frame, dataset.whole, context)
        part.quality += part.whole
        if dataset.layer is Layer.DWD:
            part.public_at = _of_rows(dataset.public_at, part.frame, context)
            part.later_rows = _of_rows(dataset.later_rows, part.frame, context)
    return parts


def fused_frame(dataset: Dataset, rows: pd.DataFrame, context: Context, scope: Scope) -> pd.DataFrame:
    """`fused_parts` as one frame, without what concerns a partition as a whole; no rows of no rows. Raises
    NothingLeft where none of the rows passed the checks."""
    merged = checked_rows(dataset, rows, context, scope)
    if merged.frame.empty and not merged.rejected:
        return empty_frame(dataset.table.all_columns)
    if merged.frame.empty:
        raise NothingLeft(dataset, scope, merged)
    return merged.frame


def checked_rows(dataset: Dataset, rows: pd.DataFrame, context: Context, scope: Scope) -> checks.Checked:
    """Rows of all sources, fused, derived and checked, in the order of the key, and what failed."""
    window = Window.of(dataset.table, dataset.partition, scope, context.calendar)
    entry = _accepted(dataset, rows, context, window)
    return entry if entry.frame.empty else _fused_rows(dataset, entry, context)


def _accepted(dataset: Dataset, rows: pd.DataFrame, context: Context, window: Window) -> checks.Checked:
    """The rows of a window that pass the hard checks and the contracts, of each source."""
    assert dataset.model is not None  # noqa: S101  a dataset without a model has no fused load
    clean, destroyed = checks.coerce_model(rows, dataset.model, ["src"])
    if window.dated:
        inside = window.contains(clean[str(dataset.date_column)]).to_numpy()
        clean, destroyed = clean[inside], {name: mask[inside] for name, mask in destroyed.items()}
    partial = clean["src"].isin(list(dataset.completes)).to_numpy(dtype=bool)
    entry = checks.apply_hard(clean, dataset.model, (*dataset.key, "src"), destroyed, partial)
    entry.frame = _without_lone_completions(dataset, entry.frame)
    return checks.apply_contract(entry, dataset.contract, (*dataset.key, "src"), context)


def _withdrawn(window: Window, frame: pd.DataFrame, days: Sequence[str]) -> list[Part]:
    """Empty parts of dates of which a calculation found nothing: their stored rows go."""
    return [Part(day, frame.iloc[:0], window.slice_of(day, ())) for day in days]


def _of_rows(
    rule: Callable[[pd.DataFrame, Context], pd.Series] | None, frame: pd.DataFrame, context: Context
) -> list[Any] | None:
    """The value of a rule for each row; None without a rule."""
    return None if rule is None else list(rule(frame, context))


def _without_lone_completions(dataset: Dataset, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without completing ones of keys that no other source has."""
    completing = frame["src"].isin(list(dataset.completes))
    if not completing.any():
        return frame
    reported = pd.MultiIndex.from_frame(frame.loc[~completing, list(dataset.key)])
    alone = completing.to_numpy() & ~pd.MultiIndex.from_frame(frame[list(dataset.key)]).isin(reported)
    return frame[~alone].reset_index(drop=True)


def _fused_rows(dataset: Dataset, entry: checks.Checked, context: Context) -> checks.Checked:
    """Fusion, derivation and the last checks."""
    assert dataset.model is not None  # noqa: S101  see _fused_parts
    if dataset.layer is not Layer.DWD:
        fused = Fused(entry.frame)
    else:
        fused = fuse(entry.frame, dataset.key, dataset.source_order, dataset.fuse)
    frame = fused.frame
    marks = "_flags"
    found = fused.flags
    # Of most rows there are none, and a list for each of them costs more than a check.
    frame[marks] = [sorted(found[at]) if at in found else () for at in range(len(frame))]
    if dataset.unchanged_within:
        frame = _keep_within_rounding(dataset, frame, context)
    for derive in dataset.derive:
        frame = derive(frame, context)
    extra = [name for name in ("src", "provenance", marks) if name in frame.columns]
    typed, destroyed = checks.coerce_model(frame, dataset.model, extra)
    final = checks.apply_hard(typed, dataset.model, dataset.key, destroyed)
    flags = {at: set(item) for at, item in enumerate(final.frame[marks]) if item}
    soft = checks.apply_soft(final.frame.drop(columns=marks), dataset.soft, dataset.key, context, flags)
    return checks.Checked(
        frame=soft.frame,
        dropped=[*entry.dropped, *final.dropped],
        failures=[*entry.failures, *final.failures, *soft.failures],
        counts=dict.fromkeys([*entry.counts, *final.counts, *soft.counts], 0),
    )


def _keep_within_rounding(dataset: Dataset, frame: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Stored values in place of new ones that differ by no more than the wire's rounding.

    Only in rows whose other numbers equal the stored ones: a corrected row is taken whole from its source, or
    its provenance would be wrong. The roundings see the stored row's source as `stored_src`.
    """
    columns = tuple(dataset.unchanged_within)
    reported = [
        spec.name
        for spec in dataset.columns
        if spec.family in ("float", "int") and not spec.computed and spec.name not in (*dataset.key, *columns)
    ]
    scope = context.scope
    # A load of single codes brings their whole past where the table is kept code by code.
    by_code = dataset.partition is Partition.CODE and scope.codes is not None
    stored = context.read(
        dataset.table_name,
        columns=(*dataset.key, *columns, *reported, "src"),
        codes=scope.codes if by_code else None,
        since=None if by_code else scope.since,
        until=None if by_code else scope.until,
    )
    known = frame[list(dataset.key)].merge(stored, on=list(dataset.key), how="left")
    known.index = frame.index
    alike = np.ones(len(frame), dtype=bool)
    for column in reported:
        new, old = floats(frame[column]), floats(known[column])
        alike &= np.isnan(new) | (np.abs(new - old) < _TINY)
    sourced = frame.assign(stored_src=known["src"])
    for column, rounding in dataset.unchanged_within.items():
        new, old = floats(frame[column]), floats(known[column])
        values = np.where(alike & (np.abs(new - old) <= floats(rounding(sourced))), old, new)
        frame[column] = pd.Series(values, index=frame.index).astype(frame[column].dtype)
    return frame
