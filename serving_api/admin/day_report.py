"""/datamgr/day-report: admin, enveloped."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query
from pydantic import BaseModel, Field

from core.days import moved
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.declaration.tables import Layer
from core.report_periods import is_period, open_report_periods
from resources.orchestrator import run_url
from resources.redact import redact
from resources.settings import Settings
from resources.warehouse.batch_records import HELD_BACK
from resources.warehouse.stored import Where, select
from serving_api.admin.shared import parse_json
from serving_api.db.batches import ACCEPTED, BATCHES, QUALITY
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.table_lists import trade_date

ReportStatus = StrEnum("ReportStatus", "complete held fallback empty partial failed not_due not_run")


class ReportSource(BaseModel):
    """The outcome of one source for a table."""

    src: str | None
    rows: int | None
    calls: int | None
    error: str | None = Field(description="why it did not answer")


class ReportRow(BaseModel):
    """One table on one trade date."""

    table: str
    dataset: str
    layer: str
    status: ReportStatus = Field(
        description=(
            "fallback: complete, but from another source than the first; held: some rows are "
            "implausible and no prices are adjusted by them; empty: loaded, and there is nothing of the "
            "date; partial: rows are stored, and a part of the table is missing; not_due: its figures are "
            "published later"
        )
    )
    reason: str | None = Field(
        description="why it failed, what is missing, or why an earlier source was not used"
    )
    second_source: bool = Field(description="whether more than one source is declared for it")
    sources: list[ReportSource]
    rows: int | None
    batch_id: str | None
    run_id: str | None
    run_url: str | None
    at: str | None


class ReportTotals(BaseModel):
    complete: int
    held: int
    fallback: int
    empty: int
    partial: int
    failed: int
    not_due: int
    not_run: int


class SourceTotals(BaseModel):
    """One source over all tables: how many tables it delivered, and how many it did not."""

    answered: int
    failed: int
    reason: str | None = Field(description="its last error")


_COLUMNS = (
    "batch_id", "table_name", "status", "run_id", "partition_key", "sources_json", "error", "started_at",
    "finished_at",
)  # fmt: skip
NOTHING = "loaded, and there is nothing of this date"
_SPAN = "____-__-__..____-__-__"


def finished(session: Session, *where: Where) -> dict[str, list[dict[str, Any]]]:
    """Table -> its finished batches of some partitions, unordered, with the rows that they accepted."""
    c = BATCHES.c
    of = [c.partition_key != "", c.status.in_(("success", "partial", "failed")), *where]
    rows = session.run(select(BATCHES, *(c[name] for name in _COLUMNS), ACCEPTED).where(*of))
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        batch = dict(zip((*_COLUMNS, "rows"), row, strict=True))
        found.setdefault(str(batch["table_name"]), []).append(batch)
    return found


def of_date(session: Session, day: str, periods: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Finished batches of a date: those of its partition, those of a range of dates that contains it, and
    those of report periods that began on that day."""
    c = BATCHES.c
    begins, ends = sa.func.substr(c.partition_key, 1, 10), sa.func.substr(c.partition_key, 13, 10)
    contains = c.partition_key.like(_SPAN) & (begins <= day) & (ends >= day)
    began = (c.started_at >= day) & (c.started_at < moved(day, 1)) & begins.in_(periods)
    return finished(session, (c.partition_key == day) | contains | began)


def held_back(session: Session, batches: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """Batch -> (check, failing rows) of rows that were stored but are not used for adjustment."""
    found: dict[str, list[tuple[str, int]]] = {}
    c = QUALITY.c
    check = (c.batch_id, c.check_name)
    for at in range(0, len(batches), 500):
        of = [c.batch_id.in_(batches[at : at + 500]), c.action == HELD_BACK, c.natural_key.is_(None)]
        checks = select(QUALITY, *check, sa.func.max(c.failed_count)).where(*of)
        for batch, name, count in session.run(checks.group_by(*check).order_by(*check)):
            found.setdefault(str(batch), []).append((str(name), int(count)))
    return found


ORDER = ("failed", "partial", "held", "fallback", "not_run", "not_due", "empty", "complete")
"""Statuses in the order of display: problems first."""


async def _day_report(state: State, date: str | None, status: str | None) -> dict[str, Any]:
    """{date, items[ReportRow], total, totals, by_source}; the last two cover all tables, regardless of
    `status`. Raises InputError (date)."""
    if date is None:
        day = state.calendar.newest_complete(state.clock.now())
    else:
        day = trade_date(state, "date", date)
    not_out = {
        table: declared.not_out(day, state.clock.now(), state.calendar)
        for table, declared in builtin_registry().trade_days.items()
    }
    rows = await state.reading.scan(_read, day, state.settings, not_out)
    totals = {name: sum(row["status"] == name for row in rows) for name in ORDER}
    shown = [row for row in rows if status in (None, row["status"])]
    shown.sort(key=lambda row: ORDER.index(row["status"]))
    about = {"date": day, "total": len(shown), "totals": totals, "by_source": _by_source(rows)}
    return {"items": shown, **about}


def _read(
    session: Session, day: str, settings: Settings, not_out: Mapping[str, str | None]
) -> list[dict[str, Any]]:
    periods = open_report_periods(day)
    batches = of_date(session, day, periods)
    rows = []
    for dataset in builtin_registry().datasets.values():
        for table in dataset.tables():
            raw = next((one for one in dataset.raw if one.table_name == table.name), None)
            partition, sources = (
                (dataset.partition, dataset.source_order) if raw is None else (raw.partition, raw.sources)
            )
            loads = batches.get(table.name, ())
            found = [batch for batch in loads if concerns(batch, day, periods, partition)]
            ordered = sorted(found, key=partial(replaced_order, day))
            head = {"table": table.name, "dataset": dataset.name, "layer": str(table.layer)}
            reported = outcome(ordered, settings, table.layer, not_out[table.name])
            rows.append({**head, "second_source": len(sources) > 1, **reported})
    held = held_back(session, [str(row["batch_id"]) for row in rows if row["batch_id"]])
    return [_held(row, held.get(str(row["batch_id"]), ())) for row in rows]


def _held(row: dict[str, Any], checks: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """The status `held` for a row of the report whose batch holds rows back, unless the batch failed."""
    if not checks or row["status"] in ("failed", "partial"):
        return row
    counts = ", ".join(f"{check}: {count}" for check, count in checks)
    return {**row, "status": "held", "reason": f"rows held back: {counts}"}


def concerns(batch: Mapping[str, Any], day: str, periods: Sequence[str], partition: Partition) -> bool:
    """Whether a batch loaded the date. Other batches of that day did not: a backfill of other dates, a
    clean-up of older ones."""
    first, _, last = str(batch["partition_key"]).partition("..")
    if partition.by_date and last and batch["status"] != "failed":
        return False  # each date of the range that was loaded has a batch of its own
    last = last or first
    if partition is not Partition.REPORT_PERIOD:
        return first <= day <= last
    # A quarter end does not give the date of the load, unless the load began on the date.
    if str(batch["started_at"])[:10] == day:
        return {first, last} <= {day, *periods}
    return first == last == day and not is_period(day)


def replaced_order(day: str, batch: Mapping[str, Any]) -> tuple[bool, str, bool, str]:
    """Batches in the order in which they replace each other: those of the day itself after those of a range
    that contains it, else the newest last; of one load of several periods the parent batch is last."""
    key = str(batch["partition_key"])
    return key == day, str(batch["started_at"]), ".." in key, str(batch["batch_id"])


def outcome(
    batches: Sequence[Mapping[str, Any]], settings: Settings, layer: Layer, not_out: str | None
) -> dict[str, Any]:
    """The last success of the date that has rows, or the last success of what is calculated anew; without
    one, the last batch that lacks a part, else the last failure. `not_out`: why the figures of the date are
    not published yet."""
    done = [one for one in batches if one["status"] == "success"]
    newest = next((one for one in reversed(done) if one["rows"] or layer is Layer.CALC), None)
    stored = done or [one for one in batches if one["status"] == "partial"]
    newest = newest or next(iter(reversed(stored)), None) or next(iter(reversed(batches)), None)
    if newest is None or (not_out is not None and newest["status"] == "success" and not newest["rows"]):
        left = dict.fromkeys(("rows", "batch_id", "run_id", "run_url", "at"))
        return {
            **left,
            "reason": not_out,
            "status": "not_run" if not_out is None else "not_due",
            "sources": [],
        }
    sources = [one for one in parse_json(newest["sources_json"], []) if isinstance(one, dict)]
    fallback = next((one["fallback_reason"] for one in sources if one.get("fallback_reason")), None)
    status, reason = ("complete", None) if fallback is None else ("fallback", fallback)
    if newest["status"] != "success":
        status, reason = str(newest["status"]), newest["error"]
    elif not newest["rows"]:
        status, reason = "empty", fallback or NOTHING
    return {
        "status": status,
        "reason": None if reason is None else redact(str(reason)),
        "sources": [_source(one) for one in sources],
        "rows": int(newest["rows"]),
        "batch_id": newest["batch_id"],
        "run_id": newest["run_id"],
        "run_url": run_url(settings, newest["run_id"]),
        "at": instant(newest["finished_at"]),
    }


def _source(source: Mapping[str, Any]) -> dict[str, Any]:
    error = source.get("error")
    why = f"{error}: {redact(str(source.get('reason', '')))}" if error else None
    return {**{name: source.get(name) for name in ("src", "rows", "calls")}, "error": why}


def _by_source(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for one in row["sources"]:
            if not (one["error"] or one["rows"] or one["calls"]):
                continue  # no request was needed
            entry = found.setdefault(str(one["src"]), {"answered": 0, "failed": 0, "reason": None})
            entry["failed" if one["error"] else "answered"] += 1
            entry["reason"] = one["error"] or entry["reason"]
    return dict(sorted(found.items()))


router = area_router(f"{PREFIX}/datamgr/day-report", "datamgr: report of a day")


_TOP = [("date", str), ("total", int), ("totals", ReportTotals), ("by_source", dict[str, SourceTotals])]


@router.get("", response_model=list[ReportRow])
@serves(top=_TOP)
async def day_report(
    call: Admin,
    date: Annotated[
        str | None, Query(max_length=32, description="trade date; default the newest complete one")
    ] = None,
    status: Annotated[ReportStatus | None, Query(description="only tables with this status")] = None,
) -> Answer:
    """What was loaded of a trade date and from which source; what was not, and why. Problems come first."""
    return Answer(await _day_report(call.state, date, status))
