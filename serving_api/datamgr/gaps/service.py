"""Gaps by calendar and dataset, and the plan of a backfill."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from platform_assets.declaration.dataset import Dataset
from platform_assets.declaration.registry import builtin_registry
from resources.calendar import TradeCalendar
from resources.errors import InputError
from resources.transport.settings import TransportSettings
from resources.upstreams.factory import transport_settings
from serving_api.datamgr.contracts import declared
from serving_api.datamgr.gaps import queries
from serving_api.datamgr.gaps.holes import Hole, dated, has_dates, holes, table_of, usual_rows
from serving_api.datamgr.gaps.schemas import PlanWish
from serving_api.datamgr.schedule.control import newest_complete
from serving_api.datamgr.shared import parse_day
from serving_api.reading import Session
from serving_api.state import State

# -- gaps -------------------------------------------------------------------------------------------


async def gaps(
    state: State, *, dataset: str | None, since: str | None, until: str | None, page: int, page_size: int
) -> dict[str, Any]:
    """{items[Gap] newest first, total, page, page_size}, over the range that each dataset is loaded for.
    Raises NotFound, InputError."""
    registry = builtin_registry()
    chosen = (
        [item for item in registry.datasets.values() if has_dates(item)]
        if dataset is None
        else [dated(registry.dataset(dataset))]
    )
    first, last = _range(state, since, until)
    found = await state.reading.scan(_holes, chosen, state.calendar, first, last)
    found.sort(key=lambda hole: hole.dataset)
    found.sort(key=lambda hole: hole.partition, reverse=True)
    shown = found[(page - 1) * page_size : page * page_size]
    return {
        "items": [_gap(hole) for hole in shown],
        "total": len(found),
        "page": page,
        "page_size": page_size,
    }


def _range(state: State, since: str | None, until: str | None) -> tuple[str | None, str]:
    """Days given, the last one not after the newest complete trade date."""
    today = state.clock.now().date().isoformat()
    newest = newest_complete(state.clock.now(), state.calendar)
    first = None if since is None else parse_day("from", since, today)
    last = newest if until is None else min(parse_day("to", until, today), newest)
    if first is not None and until is not None and first > parse_day("to", until, today):
        raise InputError("from", f"{first} lies after to={until}")
    return first, last


def _holes(
    session: Session, datasets: Sequence[Dataset], calendar: TradeCalendar, since: str | None, until: str
) -> list[Hole]:
    found = []
    for dataset in datasets:
        table = table_of(dataset)
        loaded = queries.first_success(session, table)
        if loaded is None:
            continue
        start = loaded if since is None else max(loaded, since)
        days = calendar.between(start, until)
        if days:
            found += holes(dataset, days, queries.tried(session, table, days[0], days[-1]))
    return found


def _gap(hole: Hole) -> dict[str, Any]:
    return {
        "dataset": hole.dataset,
        "partition": hole.partition,
        "expected": hole.expected,
        "present": hole.present,
        "missing": None if hole.expected is None else max(hole.expected - hole.present, 0),
        "reason": hole.reason,
        "repair": {"status": "open", "attempts": hole.failed, "run_id": hole.run_id},
    }


# -- the cost of filling them -----------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """Trade dates of a range, those that are missing, and those that a backfill would load."""

    dataset: Dataset
    since: str
    until: str
    days: list[str]
    missing: list[str]
    chosen: list[str]


async def wanted_days(state: State, wish: PlanWish) -> Wanted:
    """Raises NotFound; InputError for a dataset without dates and a range without complete trade dates."""
    dataset = dated(builtin_registry().dataset(wish.dataset))
    first, last = _range(state, wish.since, wish.until)
    days = state.calendar.between(str(first), last)
    if not days:
        raise InputError("from", f"there is no complete trade date from {first} to {last}")
    missing = await state.reading.scan(_missing, dataset, days)
    return Wanted(dataset, str(first), last, days, missing, missing if wish.only_missing else days)


def _missing(session: Session, dataset: Dataset, days: list[str]) -> list[str]:
    found = queries.tried(session, table_of(dataset), days[0], days[-1])
    return [hole.partition for hole in holes(dataset, days, found)]


async def plan(state: State, wish: PlanWish) -> dict[str, Any]:
    """The shape Plan. Raises as `wanted_days` does."""
    wanted = await wanted_days(state, wish)
    paces = transport_settings(state.settings)
    told = await state.reading.scan(_plan, wanted, state.calendar, paces)
    return {"dataset": wanted.dataset.name, "from": wanted.since, "to": wanted.until, **told}


def _plan(
    session: Session, wanted: Wanted, calendar: TradeCalendar, paces: TransportSettings
) -> dict[str, Any]:
    dataset, count = wanted.dataset, len(wanted.chosen)
    table, tables = table_of(dataset), _tables(dataset)
    per_date, unknown = _calls_per_date(session, [name for name in tables if session.has(name)], calendar)
    calls = {name: math.ceil(share * count) for name, share in sorted(per_date.items())}
    usual = _rows_per_date(session, dataset, table, calendar)
    warnings = [
        f"no load of {name} with its responses is recorded: its calls are not counted" for name in unknown
    ]
    if usual is None:
        warnings.append(f"no load of {table} is recorded: its rows are not known")
    if not count:
        warnings.append("every trade date of the range is loaded already")
    return {
        "partitions": count,
        "complete": len(wanted.days) - len(wanted.missing),
        "calls": calls,
        "minutes": round(sum(paced_seconds(paces, name, number) for name, number in calls.items()) / 60, 1),
        "rows": None if usual is None else usual * count,
        "tables": tables,
        "warnings": warnings,
    }


def _tables(dataset: Dataset) -> list[str]:
    """Every table that a load of the dataset writes, in the order in which data passes them."""
    told = declared.tables(dataset)
    own = [told[layer] for layer in ("stg", "ref", "dwd", "calc")]
    return [*told["raw"], *(name for name in own if name)]


def _calls_per_date(
    session: Session, tables: Sequence[str], calendar: TradeCalendar
) -> tuple[dict[str, float], list[str]]:
    """(calls per trade date by upstream, tables that fetch but have no recorded load)."""
    registry = builtin_registry()
    per_date: Counter[str] = Counter()
    unknown = []
    for name in tables:
        raw = registry.raws.get(name)
        owner = registry.of_table(name)
        fetches = raw is not None or (name == owner.table_name and bool(owner.sources))
        if not fetches:
            continue
        loads = queries.recent_loads(session, name)
        dates = sum(_dates(load.partition_key, calendar) for load in loads)
        if not dates:
            unknown.append(name)
            continue
        for load in loads:
            for upstream, count in load.calls.items():
                per_date[upstream] += count / dates  # type: ignore[assignment]
    return dict(per_date), unknown


def _dates(partition_key: str, calendar: TradeCalendar) -> int:
    """Trade dates that one load was about."""
    first, _, last = partition_key.partition("..")
    return len(calendar.between(first, last)) if last else 1


def _rows_per_date(session: Session, dataset: Dataset, table: str, calendar: TradeCalendar) -> int | None:
    """Rows of a usual date; of events the mean over what is loaded."""
    first = queries.first_success(session, table)
    if first is None:
        return None
    found = queries.tried(session, table, first, calendar.horizon)
    usual = usual_rows(dataset, found)
    counts = [tried.rows for tried in found.values() if tried.rows is not None]
    return round(sum(counts) / len(counts)) if usual is None else usual


def paced_seconds(paces: TransportSettings, upstream: str, calls: int) -> float:
    """How long `calls` calls of an upstream take at least, one after the other."""
    if not paces.pacing:
        return 0.0
    rule = paces.family(upstream)
    return calls * (rule.gap + (rule.jitter_min + rule.jitter_max) / 2)
