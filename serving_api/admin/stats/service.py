"""Counts from the maintained counters, freshness by the three rules, counts of one code.

Everything is read table by table: one that fails has its error in the answer and does not affect the others.
"""

from collections.abc import Mapping
from typing import Any

from core.calendar import TradeCalendar
from core.days import moved
from core.declaration.registry import FreshnessDimension, Registry, builtin_registry
from core.declaration.tables import Table
from core.errors import NotFound
from platform_assets.compute.freshness import CONFIRMED, cutoff, is_stale
from serving_api.admin.shared import instant
from serving_api.admin.stats import queries
from serving_api.admin.stats.queries import Failure, attempt
from serving_api.db.sessions import Session
from serving_api.framework.state import State

RECORDS = (
    "note_morning",
    "note_daily_review",
    "decision_card",
    "sys_sync_log",
    "sys_batch",
    "sys_quality_record",
)
"""Monitored tables that no load writes."""
F10_PREFIX = "aux_"


async def table_stats(state: State) -> dict[str, Any]:
    """{_totalRows, <table>: {count, latestUpdate, error?}}."""
    monitored = list(builtin_registry().monitored())
    return await state.reading.scan(_table_stats, monitored)


def _table_stats(session: Session, monitored: list[Table]) -> dict[str, Any]:
    found = attempt(queries.counters, session)
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
    return queries.count(session, session.table(name))


def _counted(session: Session, table: Table, counters: dict[str, dict[str, Any]]) -> tuple[int, str | None]:
    """The counter that every write keeps equal to COUNT(*); counted when there is none."""
    counter = counters.get(table.name)
    if counter is None:
        return queries.count(session, table)
    # The counter would outlive a table that is gone or broken.
    queries.probe(session, table)
    return int(counter["row_count"] or 0), counter["updated_at"]


async def freshness(state: State) -> dict[str, Any]:
    """{isFresh, staleDimensions, details{<dimension>: {latestDate, cutoff, isStale, kind, maxLag}}}."""
    today = state.today
    dimensions = builtin_registry().freshness()
    tables = state.reading.warehouse.tables
    return await state.reading.scan(_freshness, dimensions, tables, today, state.calendar)


def _freshness(
    session: Session,
    dimensions: tuple[FreshnessDimension, ...],
    tables: Mapping[str, Table],
    today: str,
    calendar: TradeCalendar,
) -> dict[str, Any]:
    found = attempt(queries.counters, session)
    details: dict[str, dict[str, Any]] = {}
    for dimension in dimensions:
        judged: dict[str, Any] | Failure = (
            found
            if isinstance(found, Failure)
            else attempt(_dimension, session, dimension, tables, today, calendar, found)
        )
        if isinstance(judged, Failure):
            judged = {"latestDate": None, "cutoff": None, "isStale": False, "error": judged.error}
        details[dimension.table] = {
            **judged,
            "kind": dimension.rule.kind,
            "maxLag": dimension.rule.max_lag,
        }
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
    filled = queries.probe(session, table)
    if not filled:
        latest = None  # a batch without rows confirms nothing: an empty table is never fresh
    elif rule.column == CONFIRMED:
        confirmed = counters.get(dimension.table, {}).get(CONFIRMED)
        latest = None if confirmed is None else str(confirmed)[:10]
    else:
        # Releases and schedules contain future dates; these do not show what has arrived.
        tomorrow = moved(today, 1)
        latest = queries.newest_day(session, table, rule.column, tomorrow)
    limit = cutoff(rule, today, calendar)
    return {"latestDate": latest, "cutoff": limit, "isStale": is_stale(latest, limit)}


async def code_stats(state: State, code: str) -> dict[str, Any]:
    """{code, dataStatus{<dimension>: {count, latestDate, error?}, f10: {count, latestDate, sections}}}."""
    today = state.today
    return await state.reading.scan(_code_stats, builtin_registry(), code, today)


def _code_stats(session: Session, registry: Registry, code: str, today: str) -> dict[str, Any]:
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
    found = attempt(queries.of_code, session, table, code, column, before)
    if isinstance(found, Failure):
        return {"count": 0, "latestDate": None, "error": found.error}
    return {"count": found[0], "latestDate": found[1]}
