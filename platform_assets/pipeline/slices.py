"""Cutting a checked frame into what one transaction writes, each with its own quality records."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

import pandas as pd

from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.pipeline.checks import Checked
from platform_assets.pipeline.windows import Window
from resources.warehouse.batch_records import Quality
from resources.warehouse.slices import Slice

T = TypeVar("T")


@dataclass
class Part:
    """Rows of one partition, ready to write."""

    key: str
    frame: pd.DataFrame
    where: Slice
    rejected: int = 0
    quality: list[Quality] = field(default_factory=list)
    public_at: list[str | None] | None = None
    later_rows: list[bool] | None = None
    """Which rows hold what was not known when they became public; None: all that hold such columns."""
    checks: dict[str, int] = field(default_factory=dict)
    """Failing rows per check that ran, 0 included."""
    whole: list[Quality] = field(default_factory=list)
    """What is wrong with the partition as a whole."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Parts of the table that no source brought -> why."""
    refused_days: frozenset[str] = frozenset()
    """Other dates of the load whose rows were all rejected; their records are with this part."""


def partition_parts(window: Window, frame: pd.DataFrame, moment: str | None = None) -> Iterator[Part]:
    """Cut a frame into what one transaction writes; rows outside a dated window are left out. `moment`: the
    day or time in the key of a snapshot that withdraws nothing; only stored rows of the frame's days are
    then compared with it, or each sample would be compared with all before it."""
    if frame.empty:
        return
    scope = window.scope
    if window.cut:
        for day, rows in frame.groupby(window.keys(frame[str(window.date_column)]), sort=True):
            where = window.slice_of(str(day), rows["code"].dropna().tolist() if window.loose else ())
            yield Part(str(day), rows.reset_index(drop=True), where)
    elif window.partition is Partition.SNAPSHOT and scope.codes is None:
        yield Part(scope.until, frame, Slice() if moment is None else _of_days(moment, frame[moment]))
    else:
        codes = sorted(set(frame["code"].dropna().tolist()))
        yield Part(scope.until, frame, Slice.of_codes(codes))


def by_years(parts: Sequence[Part], window: Window) -> Sequence[Part]:
    """The parts of a load of some codes, those of one year as one: each trade date of a few codes would be a
    batch of its own. Parts of other loads, and of tables that have no trade dates, stay as they are."""
    if window.scope.codes is None or window.partition is not Partition.TRADE_DATE or not window.dated:
        return parts
    years = groupby(parts, key=lambda part: part.key[:4])
    return [_together(list(group), window) for _, group in years]


def _together(parts: Sequence[Part], window: Window) -> Part:
    first, last = parts[0], parts[-1]
    if first is last:
        return first
    checks: Counter[str] = Counter()
    for part in parts:
        checks.update(part.checks)  # keeps checks that nothing failed
    return Part(
        key=f"{first.key}..{last.key}",
        frame=pd.concat([part.frame for part in parts], ignore_index=True),
        where=replace(window, scope=Scope((first.key, last.key), window.scope.codes)).slice(),
        rejected=sum(part.rejected for part in parts),
        quality=[one for part in parts for one in part.quality],
        public_at=_joined([part.public_at for part in parts]),
        later_rows=_joined([part.later_rows for part in parts]),
        checks=dict(checks),
        whole=[one for part in parts for one in part.whole],
    )


def _joined(values: Sequence[list[T] | None]) -> list[T] | None:
    """One list of those of all parts; None where they have none."""
    found = [one for one in values if one is not None]
    return [item for one in found for item in one] if found else None


def _of_days(column: str, moments: pd.Series) -> Slice:
    """The stored rows from the first to the last day of key values, which are days or times."""
    days = moments.str[:10]
    return Slice(date_column=column, since=str(days.min()), until=f"{days.max()} 23:59:59")


def with_newest(parts: Sequence[Part], scope: Scope, frame: pd.DataFrame, *, late: int) -> list[Part]:
    """The parts, with an empty one for the newest date when nothing is there, or (`late` publishers) when
    its figures are not out yet: that it was asked for is known afterwards."""
    if parts and (not late or any(part.key == scope.until for part in parts)):
        return list(parts)
    return [*parts, Part(scope.until, frame.iloc[:0], Slice(codes=()))]


def with_empty(parts: Sequence[Part], dates: Sequence[str], frame: pd.DataFrame) -> list[Part]:
    """The parts, with an empty one for each of `dates`: that there was nothing is known afterwards."""
    empty = [Part(day, frame.iloc[:0], Slice(codes=())) for day in dates]
    return sorted([*parts, *empty], key=lambda part: part.key)


def group_parts(
    columns: tuple[str, ...], date_column: str | None, frame: pd.DataFrame, scope: Scope
) -> Iterator[Part]:
    """One part per group that a download replaces whole, so that a source that failed loses nothing. A part
    is of the date of its group, where the date is one of the columns."""
    for values, rows in frame.groupby(list(columns), sort=True):
        equal = dict(zip(columns, (str(value) for value in values), strict=True))
        where = Slice(equal=tuple(equal.items()), codes=scope.codes)
        yield Part(equal.get(date_column or "", scope.until), rows.reset_index(drop=True), where)


def assign_quality(parts: Sequence[Part], checked: Checked, window: Window) -> None:
    """Give each partition what its own rows failed; rows without a date of the scope go to the last one."""
    if not parts:
        return
    keys = [part.key for part in parts]
    # Groups of one download share their date: what failed there goes to the last of them.
    dated = window if window.cut and len(set(keys)) == len(keys) else None
    for part in parts:
        part.checks = dict.fromkeys(checked.counts, 0)
    for dropped in checked.dropped:
        for part, rows in _split(parts, dropped, dated):
            part.rejected += len(rows)
    for failure in checked.failures:
        for part, rows in _split(parts, failure.rows, dated):
            part.quality += failure.records(rows, len(part.frame) + part.rejected)
            part.checks[failure.check] = part.checks.get(failure.check, 0) + len(rows)


def _split(
    parts: Sequence[Part], rows: pd.DataFrame, window: Window | None
) -> Iterator[tuple[Part, pd.DataFrame]]:
    if window is None or window.date_column not in rows.columns:
        yield parts[-1], rows
        return
    owner = {part.key: place for place, part in enumerate(parts)}
    days = window.keys(rows[window.date_column])
    places = days.map(lambda day: owner.get(day, len(parts) - 1))
    for place, own in rows.groupby(places.to_numpy(dtype=int)):
        yield parts[int(place)], own
