"""Rows that were calculated before an input of their trade date was repaired, and are calculated again.

Declarations say which tables a wide row is taken from (`Dataset.owners`); the batches say when each was
written last. A trade date whose inputs changed after its own newest batch is asked for once per such change.
Looked at are inputs of the same trade date, and the dates that `needs` declares: what a year of bars gives
follows when its own date is loaded again, or when a date inside that was missing is.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from core.declaration.dataset import DERIVED, Dataset
from core.declaration.registry import Registry
from core.declaration.rules import Partition
from core.declaration.scope import Calendar
from resources.warehouse.ledger.loads import Run, first_loads, lacking_a_table, written_last
from schedules.services import Services

ASKED_BY = "gaps"
MOST_DATES = 5
"""Trade dates of one dataset that are asked for at a time."""
_OPEN = ("queued", "running")
_CORRECTED_DAYS, _WHOLE_DAY, _BARS = "corrected_days", "whole_day", "fusion_kline_daily"
_LOOK_BACK = 120
"""Trade dates in which a day that was corrected is looked for."""
_CALENDAR = "ref_trade_calendar"
_CORRECTED = f"SELECT date, corrected_on FROM {_CALENDAR} WHERE market='CN' AND corrected_on>=? ORDER BY date"


def inputs_of(dataset: Dataset, registry: Registry) -> tuple[str, ...]:
    """Tables by trade date that the rows of a dataset are taken from; none of one that asks upstreams."""
    derived = bool(dataset.sources) and all(source.name == DERIVED for source in dataset.sources)
    if not derived or dataset.partition is not Partition.TRADE_DATE:
        return ()
    dated = {
        one.table_name
        for one in registry.datasets.values()
        if one.model is not None and one.partition.by_date
    } | {raw.table_name for raw in registry.raws.values() if raw.partition.by_date}
    return tuple(sorted({table for table, _ in dataset.owners.values()} & dated))


def outdated(
    dataset: Dataset, registry: Registry, run: Run, days: Sequence[str], calendar: Calendar
) -> dict[str, str]:
    """Trade date -> when an input was written after it, or a date of a table was loaded that its columns
    lack, newest first."""
    inputs = inputs_of(dataset, registry)
    if not (inputs or dataset.needs) or not days:
        return {}
    own = written_last(run, (dataset.table_name,), days[0], days[-1], whole=True)
    theirs = written_last(run, inputs, days[0], days[-1], changed=True) if inputs else {}
    late = {day: at for day, at in theirs.items() if day in own and at > own[day]}
    if dataset.needs:
        late |= _filled(dataset, run, days, own, calendar)
    return dict(sorted(late.items(), reverse=True))


def _filled(
    dataset: Dataset, run: Run, days: Sequence[str], own: Mapping[str, str], calendar: Calendar
) -> dict[str, str]:
    """Trade date whose columns lack a date of a table -> when one of them was loaded since."""
    lacking = [day for day, at in lacking_a_table(run, dataset.table_name, days[0], days[-1])
               if at == own.get(day)]  # fmt: skip
    if not lacking:
        return {}
    since = min(one.window(calendar, min(lacking))[0] for one in dataset.needs)
    loads = first_loads(run, sorted({one.table for one in dataset.needs}), since, days[-1])
    found: dict[str, str] = {}
    for day in lacking:
        ends = [loads[one.table].get(at, "") for one in dataset.needs for at in one.window(calendar, day)]
        newest = max(ends, default="")
        if newest > own[day]:
            found[day] = newest
    return found


def ask_for_corrected_days(services: Services, run: Run, now: datetime) -> list[str]:
    """Days that turned out to be open or closed against what the calendar had said: rows under them and bars
    of their periods are withdrawn, and what is made from stored tables is made again, once for each such day.
    One of the past that was open is loaded first. The days that are being asked for."""
    if not sa.inspect(services.engine).has_table(_CALENDAR):
        return []
    calendar = services.calendar
    newest = calendar.newest_complete(now)
    asked = []
    for day, at in run(_CORRECTED, (calendar.last(_LOOK_BACK, newest)[0],)):
        first = min(calendar.on_or_after(str(day)), newest)
        is_open = calendar.is_trade_date(str(day)) and str(day) <= newest
        loaded = not is_open or bool(written_last(run, (_BARS,), first, first))
        args = {
            "job": _CORRECTED_DAYS if loaded else _WHOLE_DAY,
            "partition_range": [first, newest if loaded else first],
            "trigger": "catchup",
        }
        command = services.commands.enqueue(
            "run_job",
            args,
            requested_by=ASKED_BY,
            idempotency_key=f"{'corrected' if loaded else 'opened'}:{day} {at}",
        )
        if command.status in _OPEN:
            asked.append(str(day))
    return asked


def ask_again(services: Services, registry: Registry, run: Run, days: Sequence[str]) -> dict[str, list[str]]:
    """Dataset -> trade dates that are asked for now, at most `MOST_DATES`; each change of an input once."""
    asked: dict[str, list[str]] = {}
    for dataset in registry.datasets.values():
        for day, at in outdated(dataset, registry, run, days, services.calendar).items():
            mark = hashlib.sha256(f"{dataset.name} {day} {at}".encode()).hexdigest()[:32]
            command = services.commands.enqueue(
                "run_job",
                {"job": dataset.name, "partition_range": [day, day], "trigger": "catchup"},
                requested_by=ASKED_BY,
                idempotency_key=f"outdated:{mark}",
            )
            if command.status in _OPEN:
                asked.setdefault(dataset.name, []).append(day)
            if len(asked.get(dataset.name, ())) >= MOST_DATES:
                break
    return asked
