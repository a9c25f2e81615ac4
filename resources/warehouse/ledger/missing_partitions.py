"""Which trade dates of a dataset are missing, derived from its batches. Pure."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median, quantiles

from core.calendar import TradeCalendar
from core.declaration.dataset import Dataset
from core.declaration.registry import Registry
from core.declaration.rules import Partition
from core.errors import InputError
from resources.warehouse.ledger.loads import Tried

PARTLY = 0.5
"""A date with a smaller share of the usual rows was loaded for some codes only, or broke off."""
_ENOUGH = 4
"""Loaded dates that are needed to judge how widely their numbers vary."""


@dataclass(frozen=True)
class MissingPartition:
    """`expected`: rows of a usual date (None: dates of this dataset have no usual number)."""

    dataset: str
    partition: str
    expected: int | None
    present: int
    reason: str
    failed: int = 0
    run_id: str | None = None


def has_dates(dataset: Dataset) -> bool:
    """Whether the trade dates of a dataset follow from its batches: it is loaded by date, and a RAW table
    alone promises rows on each (else an empty date cannot be distinguished from a missing one)."""
    if dataset.model is not None:
        return dataset.partition.by_date
    return bool(dataset.raw) and dataset.raw[0].partition.by_date and not dataset.raw[0].may_be_empty


def dated(dataset: Dataset) -> Dataset:
    """The dataset. Raises InputError when it has no trade dates."""
    if not has_dates(dataset):
        raise InputError("dataset", f"{dataset.name} is not loaded by trade date, so it has no gaps by date")
    return dataset


def usual_rows(dataset: Dataset, found: Mapping[str, Tried]) -> int | None:
    """Rows of a usual date; None where it is not predictable (events, or numbers that vary widely from date
    to date) or nothing is loaded."""
    partition = dataset.partition if dataset.model is not None else dataset.raw[0].partition
    counts = [tried.rows for tried in found.values() if tried.rows]
    # A late publisher may be empty only on the dates that are not out yet.
    optional = dataset.may_be_empty and not dataset.late
    if partition is not Partition.TRADE_DATE or optional or not counts:
        return None
    usual = median(counts)
    if len(counts) >= _ENOUGH and quantiles(counts, n=4, method="inclusive")[0] < usual * PARTLY:
        return None
    return int(usual)


def missing_partitions(
    dataset: Dataset, days: Sequence[str], found: Mapping[str, Tried], not_out: Container[str] = ()
) -> list[MissingPartition]:
    """The missing ones of ascending trade dates, without those whose figures are `not_out` yet. The newest
    `late` dates of a late publisher may be loaded in part."""
    usual = usual_rows(dataset, found)
    settled = days[: len(days) - dataset.late] if dataset.late else days
    missing = []
    for day in days:
        tried = found.get(day, Tried(None, 0))
        present = tried.rows or tried.partial or 0
        if not present and not tried.failed and day in not_out:
            continue
        if tried.rows is None:
            reason = "partial" if tried.partial is not None else "failed" if tried.failed else "never_run"
        elif usual is not None and day in settled and present < usual * PARTLY:
            reason = "partial"
        else:
            continue
        missing.append(
            MissingPartition(dataset.name, day, usual, present, reason, tried.failed, tried.run_id)
        )
    return missing


def not_out(
    registry: Registry, dataset: Dataset, days: Sequence[str], now: datetime, calendar: TradeCalendar
) -> frozenset[str]:
    """The trade dates whose figures are published later."""
    declared = registry.trade_days[table_of(dataset)]
    return frozenset(day for day in days if declared.not_out(day, now, calendar) is not None)


def table_of(dataset: Dataset) -> str:
    """The table whose batches show which dates of a dataset are loaded."""
    return dataset.raw[0].table_name if dataset.model is None else dataset.table_name
