"""/datamgr/day-grid: admin, enveloped."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query
from pydantic import BaseModel, Field

from core.days import moved
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.report_periods import open_report_periods
from resources.settings import Settings
from resources.warehouse.batch_records import HELD_BACK
from resources.warehouse.stored import select
from serving_api.admin.day_report import ReportStatus, concerns, finished, outcome, replaced_order
from serving_api.db.batches import BATCHES, QUALITY
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State

MOST_DATES = 60


class GridRow(BaseModel):
    """One watched table on some trade dates."""

    table: str
    dataset: str
    statuses: list[ReportStatus] = Field(description="of each date of `dates`, in their order")


async def _day_grid(state: State, days: int) -> dict[str, Any]:
    newest = state.calendar.newest_complete(state.clock.now())
    dates = state.calendar.last(days, newest)
    now = state.clock.now()
    not_out = {
        table: {day: declared.not_out(day, now, state.calendar) for day in dates}
        for table, declared in builtin_registry().trade_days.items()
    }
    rows = await state.reading.scan(_read, dates, state.settings, not_out)
    return {"items": rows, "total": len(rows), "dates": list(dates)}


def _read(
    session: Session,
    dates: Sequence[str],
    settings: Settings,
    not_out: Mapping[str, Mapping[str, str | None]],
) -> list[dict[str, Any]]:
    registry = builtin_registry()
    layers = {table.name: table.layer for table in registry.tables}
    partitions = _partitions()
    batches = _batches(session, list(partitions), dates[0], dates[-1])
    held = _held_batches(session, dates[0])
    rows = []
    for dimension in registry.freshness():
        dataset, partition = partitions[dimension.table]
        loads = batches.get(dimension.table, ())
        layer, later = layers[dimension.table], not_out[dimension.table]
        outcome_of = partial(outcome, settings=settings, layer=layer)
        statuses = [
            _status(loads, day, partition, held, partial(outcome_of, not_out=later[day])) for day in dates
        ]
        rows.append({"table": dimension.table, "dataset": dataset, "statuses": statuses})
    return rows


def _partitions() -> dict[str, tuple[str, Partition]]:
    """Watched table -> (its dataset, how it is divided)."""
    registry = builtin_registry()
    watched = {dimension.table for dimension in registry.freshness()}
    found = {}
    for dataset in registry.datasets.values():
        for table in dataset.tables():
            if table.name in watched:
                raw = next((one for one in dataset.raw if one.table_name == table.name), None)
                found[table.name] = (dataset.name, dataset.partition if raw is None else raw.partition)
    return found


def _batches(
    session: Session, tables: Sequence[str], first: str, last: str
) -> dict[str, list[dict[str, Any]]]:
    """Table -> finished batches of these dates, and those that began on one of them."""
    c = BATCHES.c
    begins, ends = sa.func.substr(c.partition_key, 1, 10), sa.func.substr(c.partition_key, 13, 10)
    of_dates = (begins <= last) & ((c.partition_key >= first) | (ends >= first))
    began = (c.started_at >= first) & (c.started_at < moved(last, 1))
    return finished(session, c.table_name.in_(tables), of_dates | began)


def _held_batches(session: Session, first: str) -> frozenset[str]:
    """Batches since a date whose rows are stored but are not used for adjustment."""
    c = QUALITY.c
    of = [c.action == HELD_BACK, c.natural_key.is_(None), c.created_at >= first]
    rows = session.run(select(QUALITY, c.batch_id).distinct().where(*of))
    return frozenset(str(row[0]) for row in rows)


def _status(
    loads: Sequence[Mapping[str, Any]],
    day: str,
    partition: Partition,
    held: frozenset[str],
    outcome_of: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]],
) -> str:
    periods = open_report_periods(day) if partition is Partition.REPORT_PERIOD else ()
    own = sorted(
        (batch for batch in loads if concerns(batch, day, periods, partition)),
        key=lambda batch: replaced_order(day, batch),
    )
    found = outcome_of(own)
    if found["status"] in ("complete", "fallback") and found["batch_id"] in held:
        return "held"
    return str(found["status"])


router = area_router(f"{PREFIX}/datamgr/day-grid", "datamgr: watched tables by trade date")


@router.get("", response_model=list[GridRow])
@serves(top=[("total", int), ("dates", list[str])])
async def day_grid(
    call: Admin,
    days: Annotated[int, Query(ge=1, le=MOST_DATES, description="trade dates, the newest last")] = 30,
) -> Answer:
    """The status of every watched table on each of the newest trade dates, as in the report of a day."""
    return Answer(await _day_grid(call.state, days))
