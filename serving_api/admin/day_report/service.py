"""The report of a trade date: the newest outcome of each table, and the failures of each source."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.days import moved
from core.declaration.dataset import Dataset, Raw
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.declaration.tables import Table
from core.report_periods import is_period, open_report_periods
from resources.orchestrator import run_url
from resources.settings import Settings
from resources.transport.redact import redact
from serving_api.admin.day_report import queries
from serving_api.admin.shared import instant, parse_json
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.table_lists import trade_date

ORDER = ("failed", "held", "fallback", "not_run", "complete")
"""Statuses in the order of display: problems first."""


async def day_report(state: State, date: str | None, status: str | None) -> dict[str, Any]:
    """{date, items[ReportRow], total, totals, by_source}; the last two cover all tables, regardless of
    `status`. Raises InputError (date)."""
    day = (
        state.calendar.newest_complete(state.clock.now()) if date is None else trade_date(state, "date", date)
    )
    rows = await state.reading.scan(_read, day, state.settings)
    totals = {name: sum(row["status"] == name for row in rows) for name in ORDER}
    shown = [row for row in rows if status in (None, row["status"])]
    shown.sort(key=lambda row: ORDER.index(row["status"]))
    return {
        "date": day,
        "items": shown,
        "total": len(shown),
        "totals": totals,
        "by_source": _by_source(rows),
    }


def _read(session: Session, day: str, settings: Settings) -> list[dict[str, Any]]:
    periods = open_report_periods(day)
    batches: dict[str, list[dict[str, Any]]] = {}
    for batch in queries.of_date(session, day, moved(day, 1), periods):
        batches.setdefault(str(batch["table_name"]), []).append(batch)
    rows = []
    for dataset in builtin_registry().datasets.values():
        for table in dataset.tables():
            found = [
                batch
                for batch in batches.get(table.name, ())
                if _concerns(batch, day, periods, _partition_of(dataset, table))
            ]
            rows.append(_row(dataset, table, sorted(found, key=_order_on(day)), settings))
    held = queries.held_back(session, [str(row["batch_id"]) for row in rows if row["batch_id"]])
    return [_held(row, held.get(str(row["batch_id"]), ())) for row in rows]


def _held(row: dict[str, Any], checks: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """The status `held` for a row of the report whose batch holds rows back, unless the batch failed."""
    if not checks or row["status"] == "failed":
        return row
    reported = ", ".join(f"{check}: {count}" for check, count in checks)
    return {**row, "status": "held", "reason": f"rows held back: {reported}"}


def _concerns(batch: Mapping[str, Any], day: str, periods: Sequence[str], partition: Partition) -> bool:
    """Whether a batch loaded the date. Other batches of that day did not: a backfill of other dates, a
    clean-up of older ones."""
    first, _, last = str(batch["partition_key"]).partition("..")
    last = last or first
    if partition is not Partition.REPORT_PERIOD:
        return first <= day <= last
    # A quarter end does not give the date of the load, unless the load began on the date.
    if str(batch["started_at"])[:10] == day:
        return {first, last} <= {day, *periods}
    return first == last == day and not is_period(day)


def _order_on(day: str) -> Callable[[Mapping[str, Any]], tuple[bool, str, bool, str]]:
    """Batches in the order in which they replace each other: those of the day itself after those of a range
    that contains it, else the newest last; of one load of several periods the parent batch is last."""

    def order(batch: Mapping[str, Any]) -> tuple[bool, str, bool, str]:
        key = str(batch["partition_key"])
        return key == day, str(batch["started_at"]), ".." in key, str(batch["batch_id"])

    return order


def _partition_of(dataset: Dataset, table: Table) -> Partition:
    raw = _raw_of(dataset, table)
    return dataset.partition if raw is None else raw.partition


def _raw_of(dataset: Dataset, table: Table) -> Raw | None:
    return next((one for one in dataset.raw if one.table_name == table.name), None)


def _row(
    dataset: Dataset, table: Table, batches: Sequence[Mapping[str, Any]], settings: Settings
) -> dict[str, Any]:
    """The last success of the date; without one, the last failure."""
    newest = next((one for one in reversed(batches) if one["status"] == "success"), None) or next(
        iter(reversed(batches)), None
    )
    head = {
        "table": table.name,
        "dataset": dataset.name,
        "layer": str(table.layer),
        "second_source": _sources_of(dataset, table) > 1,
    }
    if newest is None:
        left = dict.fromkeys(("reason", "rows", "batch_id", "run_id", "run_url", "at"))
        return {**head, **left, "status": "not_run", "sources": []}
    reported = [one for one in parse_json(newest["sources_json"], []) if isinstance(one, dict)]
    fallback = next((one["fallback_reason"] for one in reported if one.get("fallback_reason")), None)
    failed = newest["status"] == "failed"
    reason = newest["error"] if failed else fallback
    return {
        **head,
        "status": "failed" if failed else "complete" if fallback is None else "fallback",
        "reason": None if reason is None else redact(str(reason)),
        "sources": [_source(one) for one in reported],
        "rows": int(newest["rows"]),
        "batch_id": newest["batch_id"],
        "run_id": newest["run_id"],
        "run_url": run_url(settings, newest["run_id"]),
        "at": instant(newest["finished_at"]),
    }


def _sources_of(dataset: Dataset, table: Table) -> int:
    """Number of sources declared for a table: its own, or those of the tables it is staged from."""
    raw = _raw_of(dataset, table)
    return len(dataset.source_order if raw is None else raw.sources)


def _source(reported: Mapping[str, Any]) -> dict[str, Any]:
    error = reported.get("error")
    return {
        "src": reported.get("src"),
        "rows": reported.get("rows"),
        "calls": reported.get("calls"),
        "error": f"{error}: {redact(str(reported.get('reason', '')))}" if error else None,
    }


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
