"""The sensor `gaps`: finds trade dates that are not loaded, and has them loaded within a budget of calls.

Calendar x universe x dataset: a date without a successful batch, and one with far fewer rows than usual. What
is found is written into the ledger (`sys_gap`). A repair is a backfill of the dates of one dataset, carried
out by the worker; the next look tells whether it helped. A date that three repairs did not bring is given up,
with the reason. The newest date belongs to the task table until the runs of the day that load a dataset have
ended: before, nothing of it is missing.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import dagster as dg

from core.clock import stamp
from core.declaration.dataset import Dataset
from core.declaration.registry import Registry, builtin_registry
from core.declaration.tables import Table
from core.errors import ConflictError, NotFound
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.costs import calls_per_date, tables_of
from resources.warehouse.ledger.gaps import (
    CALLS_PER_DAY,
    MOST_CODES,
    OPEN,
    QUEUED,
    REPAIRED_BY,
    Gap,
    Gaps,
)
from resources.warehouse.ledger.loads import Tried, first_success, tried
from resources.warehouse.ledger.missing_partitions import (
    MissingPartition,
    has_dates,
    missing_partitions,
    not_out,
    table_of,
)
from resources.warehouse.sql import Sql
from schedules.services import Services
from schedules.tasks.outdated_rows import ask_again, ask_for_corrected_days

SENSOR = "gaps"
EVERY_S = 600
LOOK_BACK = 250
"""Trade dates that are looked at."""
COMMAND = "backfill"
MOST_DATES = 20
"""Trade dates of one dataset that one look asks for."""

log = logging.getLogger(__name__)


@dataclass
class Look:
    """What one look found and asked for: dataset -> trade dates."""

    missing: dict[str, int] = field(default_factory=dict)
    asked: dict[str, list[str]] = field(default_factory=dict)
    calls_left: int = 0
    outdated: dict[str, list[str]] = field(default_factory=dict)
    """Trade dates that are calculated again because an input changed after them."""

    @property
    def summary(self) -> str:
        again = ", ".join(f"{name} {', '.join(days)}" for name, days in sorted(self.outdated.items()))
        reported = f"; calculated again: {again}" if again else ""
        return self._missing + reported

    @property
    def _missing(self) -> str:
        if not self.missing:
            return "no trade date is missing"
        found = ", ".join(f"{name} {count}" for name, count in sorted(self.missing.items()))
        asked = ", ".join(f"{name} {', '.join(days)}" for name, days in sorted(self.asked.items()))
        return f"missing: {found}; asked for: {asked or 'nothing'}; {self.calls_left} calls left today"


class GapKeeper:
    """Looks and repairs. `calls_per_day` bounds what the repairs of a day may cost."""

    def __init__(
        self, services: Services, registry: Registry | None = None, *, calls_per_day: int = CALLS_PER_DAY
    ) -> None:
        self._services = services
        self._registry = registry or builtin_registry()
        self._sql = Sql(services.engine)
        self._ledger = Gaps(services.engine)
        self._backfills = Backfills(services.engine)
        self._budget = calls_per_day

    def look(self, now: datetime) -> Look:
        """Observe every dataset that is loaded by date, settle repairs that ended, ask for those that are
        due, the newest dates first."""
        found = Look()
        until = self._services.calendar.newest_complete(now)
        watched = self._services.calendar.last(LOOK_BACK, until)[0]
        planned = self._planned(now)
        yesterday = self._services.calendar.last(2, until)[0]
        for dataset in self._registry.datasets.values():
            if has_dates(dataset):
                waits = until == f"{now:%Y-%m-%d}" and not planned.isdisjoint(dataset.tasks)
                missing = self._observe(dataset, watched, yesterday if waits else until, now)
                if missing:
                    found.missing[dataset.name] = missing
        spent = self._backfills.calls_planned(
            REPAIRED_BY, now.replace(hour=0, minute=0, second=0, microsecond=0)
        )
        found.calls_left = max(self._budget - spent, 0)
        corrected = ask_for_corrected_days(self._services, self._run, now)
        found.outdated |= {"trade_calendar": corrected} if corrected else {}
        for name in sorted(found.missing):
            self._settle(name, now)
            self._repair(self._registry.dataset(name), found, now)
        days = self._services.calendar.between(watched, until)
        found.outdated |= ask_again(self._services, self._registry, self._run, days)
        return found

    def _planned(self, now: datetime) -> set[str]:
        """Keys of the tasks that have a run on the day of `now` that has not ended."""
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        rows = self._services.scheduled_runs.since(midnight).values()
        ended = {(row.task_key, row.slot) for row in rows if row.settled}
        return {
            state.key
            for state in self._services.tasks.all()
            for due in state.task.timing.on(now.date())
            if (state.key, state.task.scheduled_run(due).name) not in ended
        }

    def _observe(self, dataset: Dataset, watched: str, until: str, now: datetime) -> int:
        table = table_of(dataset)
        loaded = first_success(self._run, table)
        if loaded is None:
            return 0
        days = self._services.calendar.between(max(loaded, watched), until)
        if not days:
            return 0
        found = tried(self._run, table, days[0], days[-1])
        later = not_out(self._registry, dataset, days, now, self._services.calendar)
        missing = [one for one in missing_partitions(dataset, days, found) if one.partition not in later]
        self._ledger.observe(
            dataset.name,
            days[0],
            [(absent, self._codes(dataset, absent, days, found)) for absent in missing],
            now=now,
        )
        return len(missing)

    def _codes(
        self, dataset: Dataset, absent: MissingPartition, days: Sequence[str], found: dict[str, Tried]
    ) -> list[str]:
        """Of a date that is there in part: codes that the last whole date before it has and it has not."""
        table: Table = dataset.raw[0].table if dataset.model is None else dataset.table
        columns = {spec.name for spec in table.columns}
        if absent.reason != "partial" or "code" not in columns or not table.date_column:
            return []
        whole = [
            day for day in days
            if day < absent.partition and (found.get(day, Tried(None, 0)).rows or 0) >= (absent.expected or 1)
        ]  # fmt: skip
        if not whole:
            return []
        name, day = self._sql.name(table.name), self._sql.name(table.date_column)
        rows = self._run(
            f"SELECT DISTINCT code FROM {name} WHERE {day}=? AND code NOT IN "
            f"(SELECT code FROM {name} WHERE {day}=?) ORDER BY code LIMIT {MOST_CODES}",
            (whole[-1], absent.partition),
        )
        return [str(code) for (code,) in rows]

    def _settle(self, dataset: str, now: datetime) -> None:
        """Gaps whose repair ended, and that are there still."""
        for gap in self._ledger.of(dataset).values():
            if gap.status != QUEUED or gap.backfill_id is None:
                continue
            try:
                repair = self._backfills.get(gap.backfill_id)
            except NotFound:
                self._ledger.settle(gap, "its backfill is not known any more", None, now=now)
                continue
            if repair.ended:
                why = repair.failures.get(gap.partition, f"loaded, and there is no more ({repair.status})")
                run_id = repair.run_ids[-1] if repair.run_ids else None
                self._ledger.settle(gap, why, run_id, now=now)

    def _repair(self, dataset: Dataset, found: Look, now: datetime) -> None:
        if self._backfills.open(dataset.name):
            return
        due = [
            gap for gap in self._ledger.of(dataset.name).values()
            if gap.status == OPEN and (gap.next_at is None or gap.next_at <= stamp(now))
            and gap.partition not in found.outdated.get("trade_calendar", ())
        ]  # fmt: skip
        newest = sorted(due, key=lambda gap: gap.partition, reverse=True)[:MOST_DATES]
        costs, _ = calls_per_date(self._run, self._registry, tables_of(dataset), self._services.calendar)
        chosen = _affordable(newest, sum(costs.values()), found.calls_left)
        if not chosen:
            return
        days = sorted(gap.partition for gap in chosen)
        calls = {name: math.ceil(share * len(days)) for name, share in costs.items()}
        made = self._backfills.create(
            dataset.name, days[0], days[-1], days, by=REPAIRED_BY, now=now, calls=calls
        )
        table = table_of(dataset)
        try:
            # Somebody may have asked for one of this dataset since it was found free.
            args = {"backfill_id": made.id, "table": table}
            self._services.commands.enqueue_alone(
                COMMAND, args, requested_by=REPAIRED_BY, about=table,
                same=lambda one: one.args.get("table") == table,
            )  # fmt: skip
        except ConflictError:
            self._backfills.settle(made.id, "canceled", now=now)
            return
        self._ledger.queue(dataset.name, days, made.id, now=now)
        found.asked[dataset.name] = days
        found.calls_left -= sum(calls.values())

    def _run(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._sql.rows(statement, tuple(values))]


def _affordable(gaps: Sequence[Gap], cost: float, left: int) -> list[Gap]:
    """As many of them, in their order, as the calls that are left pay for."""
    if cost <= 0:
        return list(gaps)
    return list(gaps[: int(left // cost)])


def gap_sensor(
    services: Callable[[], Services], idle: Callable[[Services], str | None]
) -> dg.SensorDefinition:
    """The sensor; `idle` says why nothing is scheduled at all."""

    def evaluate(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        opened = services()
        why = idle(opened)
        if why is not None:
            return dg.SkipReason(why)
        return dg.SkipReason(GapKeeper(opened).look(opened.clock.now()).summary)

    return dg.SensorDefinition(
        name=SENSOR,
        evaluation_fn=evaluate,
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="finds trade dates that are not loaded and has them loaded, within a budget of calls",
    )
