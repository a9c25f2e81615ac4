"""Cutting a checked frame into what one transaction writes, each with its own quality records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd

from platform_assets.declaration.rules import Partition
from platform_assets.declaration.scope import Scope
from platform_assets.pipeline.checks import Checked
from resources.warehouse.slices import Slice
from resources.warehouse.writer import Quality


@dataclass
class Part:
    """Rows of one partition, ready to write."""

    key: str
    frame: pd.DataFrame
    where: Slice
    rejected: int = 0
    quality: list[Quality] = field(default_factory=list)
    public_at: list[str | None] | None = None
    checks: dict[str, int] = field(default_factory=dict)
    """Failing rows per check that ran."""
    whole: list[Quality] = field(default_factory=list)
    """What is wrong with the partition as a whole."""


def partition_parts(
    partition: Partition, date_column: str | None, frame: pd.DataFrame, scope: Scope
) -> Iterator[Part]:
    """Cut a frame into what one transaction writes."""
    if frame.empty:
        return
    if partition is Partition.TRADE_DATE and date_column:
        for day, rows in frame.groupby(date_column, sort=True):
            where = Slice.of_date(date_column, str(day), scope.codes)
            yield Part(str(day), rows.reset_index(drop=True), where)
    elif partition is Partition.SNAPSHOT and scope.codes is None:
        yield Part(scope.until, frame, Slice())
    else:
        codes = sorted(set(frame["code"].dropna().tolist()))
        yield Part(scope.until, frame, Slice.of_codes(codes))


def group_parts(columns: tuple[str, ...], frame: pd.DataFrame, scope: Scope) -> Iterator[Part]:
    """One part per group that a download replaces whole, so that a source that failed loses nothing."""
    for values, rows in frame.groupby(list(columns), sort=True):
        equal = tuple(zip(columns, (str(value) for value in values), strict=True))
        where = Slice(equal=equal, codes=scope.codes)
        yield Part(scope.until, rows.reset_index(drop=True), where)


def assign_quality(parts: Sequence[Part], checked: Checked, date_column: str | None) -> None:
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
