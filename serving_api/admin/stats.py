"""/datamgr/stats. `freshness` is declared before `/{code}`."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from pydantic import BaseModel, Field

from core.calendar import TradeCalendar
from core.days import moved
from core.declaration.registry import FreshnessDimension, Registry, builtin_registry
from core.declaration.tables import Table
from core.errors import NotFound, PlatformError
from platform_assets.compute.freshness import CONFIRMED, cutoff, is_stale
from platform_assets.datasets.freshness_snapshot import FreshnessSnapshot
from resources.redact import redact
from resources.warehouse.ledger.loads import newest_complete_day
from resources.warehouse.stored import ANY, select
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.row_models import with_columns
from serving_api.framework.state import State


class TableCount(BaseModel):
    """One monitored table."""

    count: int
    latestUpdate: str | None = Field(description="time of the newest change")
    error: str | None = None


@with_columns(
    FreshnessSnapshot.latest_date.label("latestDate"), FreshnessSnapshot.cutoff,
    FreshnessSnapshot.is_stale.label("isStale"),
)  # fmt: skip
class DimensionFreshness(BaseModel):
    kind: Literal["trading", "calendar", "period"]
    maxLag: int = Field(description="trade dates (trading), days (calendar, period)")
    error: str | None = None


class FreshnessReport(BaseModel):
    isFresh: bool
    staleDimensions: list[str]
    details: dict[str, DimensionFreshness]


class CodeCount(BaseModel):
    count: int
    latestDate: str | None
    error: str | None = None


class F10Count(CodeCount):
    sections: dict[str, CodeCount]


class CodeStats(BaseModel):
    """`dataStatus` has one entry per table, and `f10` for the portal tables together."""

    code: str
    dataStatus: dict[str, F10Count | CodeCount]


T = TypeVar("T")
MAX_ERROR = 200


@dataclass(frozen=True)
class Failure:
    """Why one table could not be read."""

    error: str


def attempt(work: Callable[..., T], *args: Any) -> T | Failure:
    """The result of `work`, or its error as short text."""
    try:
        return work(*args)
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        return Failure(redact(str(cause))[:MAX_ERROR])
    except PlatformError as error:
        return Failure(redact(error.message)[:MAX_ERROR])


def counters_of(session: Session) -> dict[str, dict[str, Any]]:
    """`table_version` by table name."""
    return {str(row["table_name"]): row for row in session.dicts("table_version")}


def probe(session: Session, table: Table) -> bool:
    """Whether the table has rows; raises when it cannot be read at all."""
    return bool(session.run(select(table.name, sa.literal(1)).limit(1)))


def count(session: Session, table: Table) -> tuple[int, str | None]:
    """(COUNT(*), newest time of a row: updated_at, else imported_at, else when it ended)."""
    times = [name for name in ("updated_at", "imported_at", "finished_at") if name in table.names]
    row = session.run(select(table.name, sa.func.count(), *(sa.func.max(ANY[name]) for name in times)))[0]
    return int(row[0]), next((str(value) for value in row[1:] if value is not None), None)


def newest_day(session: Session, table: Table, column: str, before: str) -> str | None:
    """The newest complete date in `column` that is before the day `before`."""
    return newest_complete_day(session.run, table.name, session.sql.name(column), before)


def of_code(
    session: Session, table: Table, code: str, column: str | None, before: str
) -> tuple[int, str | None]:
    """(rows of one code, the newest date in `column` that is before the day `before`; of a table without
    dates: the day of the newest update)."""
    times = (column, table.date_column, "updated_at", "imported_at")
    time = ANY[next(name for name in times if name and name in table.names)]
    newest = sa.func.max(sa.case((time < before, time)))
    row = session.run(select(table.name, sa.func.count(), newest).where(ANY.code == code))[0]
    return int(row[0]), None if row[1] is None else str(row[1])[:10]


RECORDS = (
    "note_morning", "note_daily_review", "decision_card", "sys_sync_log", "sys_batch", "sys_quality_record",
)  # fmt: skip
"""Monitored tables that no load writes."""
F10_PREFIX = "aux_"


def _table_stats(session: Session, monitored: list[Table]) -> dict[str, Any]:
    found = attempt(counters_of, session)
    counters = {} if isinstance(found, Failure) else found
    entries = {table.name: attempt(_counted, session, table, counters) for table in monitored}
    entries |= {name: attempt(_recorded, session, name) for name in RECORDS}
    shown: dict[str, Any] = {"_totalRows": sum(e[0] for e in entries.values() if not isinstance(e, Failure))}
    for name, entry in entries.items():
        if isinstance(entry, Failure):
            shown[name] = {"count": 0, "latestUpdate": None, "error": entry.error}
        else:
            shown[name] = {"count": entry[0], "latestUpdate": instant(entry[1])}
    return shown


def _recorded(session: Session, name: str) -> tuple[int, str | None]:
    return count(session, session.table(name))


def _counted(session: Session, table: Table, counters: dict[str, dict[str, Any]]) -> tuple[int, str | None]:
    """The counter that every write keeps equal to COUNT(*); counted when there is none."""
    counter = counters.get(table.name)
    if counter is None:
        return count(session, table)
    # The counter would outlive a table that is gone or broken.
    probe(session, table)
    return int(counter["row_count"] or 0), counter["updated_at"]


async def freshness_of(state: State) -> dict[str, Any]:
    """{isFresh, staleDimensions, details{<dimension>: {latestDate, cutoff, isStale, kind, maxLag}}}."""
    dimensions, tables = builtin_registry().freshness(), state.reading.warehouse.tables
    return await state.reading.scan(_freshness, dimensions, tables, state.today, state.calendar)


def _freshness(
    session: Session,
    dimensions: tuple[FreshnessDimension, ...],
    tables: Mapping[str, Table],
    today: str,
    calendar: TradeCalendar,
) -> dict[str, Any]:
    found = attempt(counters_of, session)
    details: dict[str, dict[str, Any]] = {}
    for dimension in dimensions:
        judged: dict[str, Any] | Failure = (
            found
            if isinstance(found, Failure)
            else attempt(_dimension, session, dimension, tables, today, calendar, found)
        )
        if isinstance(judged, Failure):
            judged = {"latestDate": None, "cutoff": None, "isStale": False, "error": judged.error}
        details[dimension.table] = {**judged, "kind": dimension.rule.kind, "maxLag": dimension.rule.max_lag}
    stale = [name for name, detail in details.items() if detail["isStale"]]
    return {"isFresh": not stale, "staleDimensions": stale, "details": details}


def _dimension(
    session: Session,
    dimension: FreshnessDimension,
    tables: Mapping[str, Table],
    today: str,
    calendar: TradeCalendar,
    counters: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    rule = dimension.rule
    table = tables.get(dimension.table)
    if table is None:
        raise NotFound(f"no table {dimension.table!r}")
    if not probe(session, table):
        latest = None  # a batch without rows confirms nothing: an empty table is never fresh
    elif rule.column == CONFIRMED:
        confirmed = counters.get(dimension.table, {}).get(CONFIRMED)
        latest = None if confirmed is None else str(confirmed)[:10]
    else:
        # Releases and schedules contain future dates; these do not show what has arrived.
        latest = newest_day(session, table, rule.column, moved(today, 1))
    limit = cutoff(rule, today, calendar)
    return {"latestDate": latest, "cutoff": limit, "isStale": is_stale(latest, limit)}


def _code_stats(session: Session, registry: Registry, code: str, today: str) -> dict[str, Any]:
    """{code, dataStatus{<dimension>: {count, latestDate, error?}, f10: {count, latestDate, sections}}}."""
    judged_by = {dimension.table: dimension.rule.column for dimension in registry.freshness()}

    def reported(table: Table) -> dict[str, Any]:
        # As in the freshness report: a future date does not show what has arrived.
        return _of_code(session, table, code, judged_by.get(table.name), moved(today, 1))

    status = {table.name: reported(table) for table in registry.per_code()}
    aux = [raw.table for raw in registry.raws.values() if raw.table_name.startswith(F10_PREFIX)]
    sections = {table.name: reported(table) for table in aux}
    dates = [section["latestDate"] for section in sections.values() if section["latestDate"]]
    status["f10"] = {
        "count": sum(section["count"] for section in sections.values()),
        "latestDate": max(dates, default=None),
        "sections": sections,
    }
    return {"code": code, "dataStatus": status}


def _of_code(session: Session, table: Table, code: str, column: str | None, before: str) -> dict[str, Any]:
    found = attempt(of_code, session, table, code, column, before)
    if isinstance(found, Failure):
        return {"count": 0, "latestDate": None, "error": found.error}
    return {"count": found[0], "latestDate": found[1]}


router = area_router(f"{PREFIX}/datamgr/stats", "datamgr: statistics")


@router.get("", response_model=dict[str, int | TableCount])
async def stats(call: Admin) -> Answer:
    """Rows and newest change of every monitored table, and `_totalRows`."""
    monitored = list(builtin_registry().monitored())
    return Answer(await call.state.reading.scan(_table_stats, monitored))


@router.get("/freshness", response_model=FreshnessReport)
async def freshness(call: Admin) -> Answer:
    """Which tables are older than their rule allows."""
    return Answer(await freshness_of(call.state))


@router.get("/{code}", response_model=CodeStats)
async def code_stats(call: Admin, code: StockCode) -> Answer:
    """Stored rows of one security; an unknown code has zero counts."""
    state = call.state
    return Answer(await state.reading.scan(_code_stats, builtin_registry(), code, state.today))


@router.get("/{code}/full", response_model=CodeStats)
async def full_code_stats(call: Admin, code: StockCode) -> Answer:
    """The same as without `/full`."""
    return await code_stats(call, code)
