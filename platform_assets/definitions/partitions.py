"""The trade-date partitions: one per trade date of the calendar up to today."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg

from core.calendar import FIRST_PARTITION, TradeCalendar
from core.clock import Clock, FrozenClock, SystemClock
from core.errors import InputError
from core.simulated_clock import SimulatedClock
from platform_assets.definitions.dagster_internals import DefaultPartitionsSubset, PartitionsSubset
from resources.orchestrator import PARTITION, RANGE_END, RANGE_START
from resources.settings import process_settings
from resources.stored_calendar import StoredCalendar, stored_calendar

RANGE_TAGS = (RANGE_START, RANGE_END)


class _InOrder(DefaultPartitionsSubset):
    """Dates of a run, oldest first. Dagster keeps named partitions in a set and reports them in its order, so
    that the newest event of an asset, which the UI shows first, was of any date of a range."""

    def get_partition_keys(self) -> Iterable[str]:
        return sorted(self.subset)

    def with_partition_keys(self, partition_keys: Iterable[str]) -> DefaultPartitionsSubset:
        return _InOrder(self.subset | set(partition_keys))

    def to_serializable_subset(self) -> PartitionsSubset[str]:
        """What is stored is Dagster's own: other processes need not know this class."""
        return DefaultPartitionsSubset(self.subset)


class TradeDates(dg.StaticPartitionsDefinition):
    """Names, no time windows: Dagster writes a window with its exclusions, 18 KB of holidays, into every
    planned event and every run, and moves a key that does not exist to the next window.

    Today's date is there as soon as it begins, and what the calendar learnt as soon as it is stored, also
    in a process that has run since yesterday.
    """

    def get_partition_keys(self, *_: Any, **__: Any) -> Sequence[str]:
        return _calendar().between(FIRST_PARTITION, _today())

    def empty_subset(self) -> PartitionsSubset[str]:
        return _InOrder()


@cache
def _clocks() -> tuple[Clock, ...]:
    """The system clock, and that of SAMPLE_NOW; in a run on a simulated clock that one."""
    settings = process_settings()
    if settings.sample_clock:
        return (SimulatedClock(Path(settings.sample_clock)),)
    frozen = settings.frozen_now
    return (SystemClock(),) if frozen is None else (SystemClock(), FrozenClock(frozen))


def _today() -> str:
    """The day up to which there are partitions: the later one, where SAMPLE_NOW is not today."""
    return max(clock.now().date().isoformat() for clock in _clocks())


def _calendar() -> TradeCalendar:
    """The trade dates as the warehouse knows them: a key is there as soon as a day turns out to be open."""
    return _stored().look()


@cache
def _stored() -> StoredCalendar:
    return stored_calendar(process_settings())


@cache
def trade_dates() -> TradeDates:
    return TradeDates(_calendar().between(FIRST_PARTITION, _today()))


def check_partitions(tags: Mapping[str, str]) -> None:
    """InputError when a run was asked for a partition, or for an end of a range, that is no trade date."""
    for tag in (PARTITION, *RANGE_TAGS):
        day = tags.get(tag)
        if day is not None:
            _check(day)


def _check(day: str) -> None:
    calendar, today = _calendar(), _today()
    if not FIRST_PARTITION <= day <= today:
        raise InputError("partition", f"{day!r} is outside {FIRST_PARTITION}..{calendar.on_or_before(today)}")
    if not calendar.is_trade_date(day):
        before = calendar.on_or_before(day)
        raise InputError("partition", f"{day!r} is no trade date; the last one before it is {before}")


MOST_NAMED = 10


def closed_within(tags: Mapping[str, str]) -> str:
    """Days of the asked range on which the exchanges are closed; empty without a range. Each asset of a run
    says it, so of a long range the weekends are one word and only the other days have names."""
    first, last = (tags.get(tag) for tag in RANGE_TAGS)
    if first is None or last is None:
        return ""
    closed = _calendar().closed(first, last)
    if len(closed) <= MOST_NAMED:
        return ", ".join(closed)
    holidays = [day for day in closed if date.fromisoformat(day).weekday() < 5]
    return ", ".join(["weekends", *holidays])
