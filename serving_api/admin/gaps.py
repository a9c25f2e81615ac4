"""/datamgr/gaps and /datamgr/backfill/plan: admin, enveloped."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field, StrictBool

from core.calendar import TradeCalendar
from core.clock import local_iso
from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.errors import InputError
from resources.transport.settings import TransportSettings, transport_settings
from resources.warehouse.ledger import loads
from resources.warehouse.ledger.backfills import Backfills
from resources.warehouse.ledger.costs import calls_per_date, tables_of
from resources.warehouse.ledger.gaps import CALLS_PER_DAY, OPEN, REPAIRED, REPAIRED_BY, Gap, Gaps
from resources.warehouse.ledger.missing_partitions import (
    MissingPartition,
    dated,
    has_dates,
    missing_partitions,
    not_out,
    table_of,
    usual_rows,
)
from serving_api.admin.shared import MAX_ID, parse_day
from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

GapStatus = StrEnum("GapStatus", "open queued repaired given_up")


class Repair(BaseModel):
    """The repair of a gap: the sensor `gaps` has it loaded, three times at most."""

    status: GapStatus
    attempts: int = Field(description="repairs that were tried, else failed batches of this date")
    run_id: str | None = Field(description="run of a failed batch")
    next_at: str | None = Field(default=None, description="not before this time")
    note: str | None = Field(default=None, description="why the last repair loaded nothing")


class Budget(BaseModel):
    """Upstream calls that repairs may still use today."""

    calls_left: int
    resets_at: str


class GapItem(BaseModel):
    """A trade date of the loaded range that is missing, or loaded only in part."""

    dataset: str
    partition: str = Field(description="trade date")
    expected: int | None = Field(description="rows of a usual date; null: the number varies by date")
    present: int = Field(description="rows of its fullest successful batch")
    missing: int | None
    codes: list[str] = Field(description="missing codes, at most 100; of a date that was loaded in part")
    reason: Literal["never_run", "failed", "partial"]
    repair: Repair


class PlanRequest(BaseModel):
    """`only_missing` false plans every trade date of the range."""

    model_config = example(extra="forbid", **{"dataset": "margin", "from": "2026-08-03", "to": "2026-08-21"})
    dataset: Annotated[str, Field(min_length=1, max_length=64)]
    since: Annotated[str, Field(alias="from", max_length=32, description="first day")]
    until: Annotated[str, Field(alias="to", max_length=32, description="last day")]
    only_missing: StrictBool = True


class Plan(BaseModel):
    """The estimated cost of loading a range, from the newest recorded loads. Nothing is started."""

    dataset: str
    since: str = Field(alias="from")
    until: str = Field(alias="to")
    partitions: int = Field(description="trade dates that would be loaded")
    complete: int = Field(description="trade dates of the range that are loaded already")
    calls: dict[str, int] = Field(description="calls by upstream")
    minutes: float = Field(description="under the pacing of the upstreams")
    rows: int | None = Field(description="rows of the main table; null: nothing is recorded yet")
    tables: list[str]
    warnings: list[str]


def _midnight(state: State) -> datetime:
    return state.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)


def _ledger(state: State) -> tuple[dict[tuple[str, str], Gap], int]:
    """The gaps in the ledger, and the calls that repairs may still use today."""
    warehouse = state.reading.warehouse
    if "sys_gap" not in warehouse.tables:
        return {}, CALLS_PER_DAY
    spent = Backfills(warehouse.engine).calls_planned(REPAIRED_BY, _midnight(state))
    return Gaps(warehouse.engine).of(), max(CALLS_PER_DAY - spent, 0)


def _range(state: State, since: str | None, until: str | None) -> tuple[str | None, str]:
    """The first and last day of a request; the last one is not after the newest complete trade date."""
    today = state.today
    newest = state.calendar.newest_complete(state.clock.now())
    first = None if since is None else parse_day("from", since, today)
    last = newest if until is None else min(parse_day("to", until, today), newest)
    if first is not None and until is not None and first > parse_day("to", until, today):
        raise InputError("from", f"{first} lies after to={until}")
    return first, last


def _missing_partitions(
    session: Session,
    datasets: Sequence[Dataset],
    calendar: TradeCalendar,
    now: datetime,
    since: str | None,
    until: str,
) -> list[MissingPartition]:
    registry = builtin_registry()
    found = []
    for dataset in datasets:
        table = table_of(dataset)
        loaded = loads.first_success(session.run, table)
        if loaded is None:
            continue
        start = loaded if since is None else max(loaded, since)
        days = calendar.between(start, until)
        if days:
            tried = loads.tried(session.run, table, days[0], days[-1])
            found += missing_partitions(dataset, days, tried, not_out(registry, dataset, days, now, calendar))
    return found


def _gap(absent: MissingPartition, known: Gap | None) -> GapItem:
    """A missing partition as it is now. The repair comes from the ledger, unless the gap was repaired
    before and has come back."""
    repair: dict[str, Any] = {"status": OPEN, "attempts": absent.failed, "run_id": absent.run_id}
    if known is not None and known.status != REPAIRED:
        repair |= {"status": known.status, "run_id": known.run_id or absent.run_id}
        repair |= {"next_at": instant(known.next_at), "note": known.note}
        repair["attempts"] = max(known.attempts, absent.failed)
    return _shown(absent, () if known is None else known.codes, repair)


def _shown(gap: MissingPartition | Gap, codes: Sequence[str], repair: dict[str, Any]) -> GapItem:
    missing = None if gap.expected is None else max(gap.expected - gap.present, 0)
    return GapItem.model_validate({**vars(gap), "missing": missing, "codes": codes, "repair": repair})


# -- the cost of filling them -----------------------------------------------------------------------


@dataclass(frozen=True)
class Requested:
    """Trade dates of a range, those that are missing, and those that a backfill would load."""

    dataset: Dataset
    since: str
    until: str
    days: list[str]
    missing: list[str]
    chosen: list[str]


async def requested_days(state: State, body: PlanRequest) -> Requested:
    """Raises NotFound; InputError for a dataset without dates and a range without complete trade dates."""
    dataset = dated(builtin_registry().dataset(body.dataset))
    first, last = _range(state, body.since, body.until)
    days = state.calendar.between(str(first), last)
    later = not_out(builtin_registry(), dataset, days, state.clock.now(), state.calendar)
    days = [day for day in days if day not in later]
    if not days:
        raise InputError("from", f"there is no complete trade date from {first} to {last}")
    missing = await state.reading.scan(_missing, dataset, days)
    return Requested(dataset, str(first), last, days, missing, missing if body.only_missing else days)


def _missing(session: Session, dataset: Dataset, days: list[str]) -> list[str]:
    found = loads.tried(session.run, table_of(dataset), days[0], days[-1])
    return [absent.partition for absent in missing_partitions(dataset, days, found)]


async def plan_of(state: State, body: PlanRequest) -> dict[str, Any]:
    """The model `Plan`. Raises as `requested_days`."""
    requested = await requested_days(state, body)
    paces = transport_settings(state.settings)
    reported = await state.reading.scan(_plan, requested, state.calendar, paces)
    return {"dataset": requested.dataset.name, "from": requested.since, "to": requested.until, **reported}


def _plan(
    session: Session, requested: Requested, calendar: TradeCalendar, paces: TransportSettings
) -> dict[str, Any]:
    dataset, count = requested.dataset, len(requested.chosen)
    table, tables = table_of(dataset), tables_of(dataset)
    present = [name for name in tables if session.has(name)]
    per_date, unknown = calls_per_date(session.run, builtin_registry(), present, calendar)
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
        "complete": len(requested.days) - len(requested.missing),
        "calls": calls,
        "minutes": round(sum(paces.seconds(name, number) for name, number in calls.items()) / 60, 1),
        "rows": None if usual is None else usual * count,
        "tables": tables,
        "warnings": warnings,
    }


def _rows_per_date(session: Session, dataset: Dataset, table: str, calendar: TradeCalendar) -> int | None:
    """Rows of a usual date; for events the mean over the loaded dates."""
    first = loads.first_success(session.run, table)
    if first is None:
        return None
    found = loads.tried(session.run, table, first, calendar.horizon)
    usual = usual_rows(dataset, found)
    counts = [tried.rows for tried in found.values() if tried.rows is not None]
    return round(sum(counts) / len(counts)) if usual is None else usual


router = area_router(f"{PREFIX}/datamgr", "datamgr: gaps")


@router.get("/gaps", response_model=list[GapItem])
@serves(
    top=[("total", int), ("page", int), ("page_size", int), ("budget", Budget)], raises=(404,), cache=NO_STORE
)
async def gaps(
    call: Admin,
    dataset: Annotated[str | None, Query(max_length=64, description="only this dataset")] = None,
    since: Annotated[str | None, Query(alias="from", max_length=32, description="first day")] = None,
    until: Annotated[str | None, Query(alias="to", max_length=32, description="last day")] = None,
    status: Annotated[GapStatus | None, Query(description="only gaps with this repair status")] = None,
    page: Annotated[int, Query(ge=1, le=MAX_ID, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=200, description="gaps on a page")] = 50,
) -> Answer:
    """Missing trade dates within the loaded range of each dataset, newest first."""
    state = call.state
    registry = builtin_registry()
    chosen = (
        [item for item in registry.datasets.values() if has_dates(item)]
        if dataset is None
        else [dated(registry.dataset(dataset))]
    )
    first, last = _range(state, since, until)
    now = state.clock.now()
    missing = await state.reading.scan(_missing_partitions, chosen, state.calendar, now, first, last)
    known, left = await off_loop(_ledger, state)
    found = [_gap(absent, known.get((absent.dataset, absent.partition))) for absent in missing]
    if status == REPAIRED:
        names = {one.name for one in chosen}
        closed = [gap for gap in known.values() if gap.status == REPAIRED and gap.dataset in names]
        found = [
            _shown(gap, gap.codes, {"status": gap.status, "attempts": gap.attempts, "run_id": gap.run_id})
            for gap in closed
            if (first or "") <= gap.partition <= last
        ]
    elif status is not None:
        found = [gap for gap in found if gap.repair.status == status]
    found.sort(key=lambda gap: gap.dataset)
    found.sort(key=lambda gap: gap.partition, reverse=True)
    budget = {"calls_left": left, "resets_at": local_iso(_midnight(state) + timedelta(days=1))}
    shown = {"page": page, "page_size": page_size, "budget": budget}
    items = found[(page - 1) * page_size : page * page_size]
    return Answer({"items": items, "total": len(found), **shown})


@router.post("/backfill/plan", response_model=Plan)
@serves(raises=(404,))
async def plan(call: Admin, body: PlanRequest) -> Answer:
    """The cost of loading a range of trade dates: calls, minutes, rows. Starts nothing."""
    return Answer(await plan_of(call.state, body))
