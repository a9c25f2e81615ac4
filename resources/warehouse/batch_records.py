"""The records of a batch: its own row, its fetches and its quality records."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.clock import stamp
from core.declaration.frames import canonical_json
from core.declaration.tables import Table
from resources.fetch_record import Fetch
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, select, update

COUNTS = (
    "rows_in", "rows_ok", "rows_warning", "rows_rejected", "rows_unchanged", "rows_written",
    "rows_superseded",
)  # fmt: skip
"""What a batch counts, and a parent sums up."""
MAX_QUALITY_ROWS = 200
"""Failing rows that one check stores; the summary row counts all of them."""


HELD_BACK = "held_back"
"""`action` of a row that is stored and marked, but not used for price adjustment."""


@dataclass(frozen=True)
class Quality:
    """One failed check: of one row (`natural_key` set) or the summary of a check in this batch."""

    check: str
    severity: str  # hard | soft | contract
    action: str  # rejected | warning | held_back | table_warning | recorded
    message: str = ""
    column: str | None = None
    natural_key: str | None = None
    code: str | None = None
    failed_value: str | None = None
    failed_count: int = 1
    total_count: int = 0
    sources: Any = None


@dataclass(frozen=True)
class Batch:
    """Which run writes, why and from what. `inputs`: [{table, batch_ids, rows, max_date}]; `sources`:
    [{src, calls, rows, fallback_reason, fetch_ids}]."""

    partition_key: str
    fusion_type: str | None = None
    domain: str | None = None
    trigger: str = "manual"
    trigger_ref: str | None = None
    run_id: str | None = None
    command_id: int | None = None
    parent_batch_id: str | None = None
    world: str | None = None
    codes_count: int | None = None
    inputs: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[Mapping[str, Any]] = ()
    checks: Mapping[str, Any] = field(default_factory=dict)
    code_version: str = ""
    batch_id: str = field(default_factory=lambda: uuid.uuid4().hex)


def insert_batch(
    sql: Sql, connection: Connection, table: Table, batch: Batch, now: str, *, lock_wait_ms: int = 0
) -> None:
    """The batch, running. `lock_wait_ms`: how long its transaction waited for other writers."""
    values = {
        "batch_id": batch.batch_id, "table_name": table.name, "fusion_type": batch.fusion_type,
        "domain": batch.domain, "trigger_type": batch.trigger, "trigger_ref": batch.trigger_ref,
        "command_id": batch.command_id, "parent_batch_id": batch.parent_batch_id, "run_id": batch.run_id,
        "partition_key": batch.partition_key, "codes_count": batch.codes_count,
        "inputs_json": canonical_json(list(batch.inputs)),
        "sources_json": canonical_json(list(batch.sources)),
        "checks_json": canonical_json(dict(batch.checks)), "code_version": batch.code_version,
        "world": batch.world, "status": "running", "started_at": now, "lock_wait_ms": lock_wait_ms,
        "created_at": now, "updated_at": now,
    }  # fmt: skip
    sql.put(connection, "sys_batch", values)


def children_counts(sql: Sql, connection: Connection, parent_id: str) -> dict[str, int]:
    """What the batches of the partitions of a range counted in total."""
    totals = select("sys_batch", *(sa.func.coalesce(sa.func.sum(ANY[name]), 0) for name in COUNTS))
    sums = connection.execute(totals.where(ANY.parent_batch_id == parent_id)).one()
    return dict(zip(COUNTS, map(int, sums), strict=True))


def end_batch(
    sql: Sql, connection: Connection, batch_id: str, status: str, counts: Mapping[str, int], now: str,
    **more: Any,
) -> None:  # fmt: skip
    """End a batch with what it counted (0 where nothing is given), and `more` of its columns."""
    counted = {name: counts.get(name, 0) for name in COUNTS}
    row = {"status": status, **counted, **more, "finished_at": now, "updated_at": now}
    connection.execute(update("sys_batch", row, ANY.batch_id == batch_id))


def insert_fetches(
    sql: Sql, connection: Connection, batch: Batch, fetches: Sequence[Fetch], bodies: Mapping[str, str]
) -> None:
    """Insert the fetches of a batch; `bodies` gives the path of each body."""
    if not fetches:
        return
    trade_date = batch.partition_key if len(batch.partition_key) == 10 else None
    rows = [
        {
            "fetch_id": item.fetch_id, "batch_id": batch.batch_id, "run_id": batch.run_id,
            "upstream": item.upstream, "call_name": item.call_name, "request_key": item.request_key,
            "request": item.request, "codes_or_page": item.codes_or_page[:255],
            "http_status": item.http_status, "outcome": str(item.outcome), "attempt": item.attempt,
            "byte_count": len(item.body), "sha256": item.sha256, "body_path": bodies.get(item.fetch_id),
            "elapsed_ms": item.elapsed_ms, "received_at": stamp(item.received_at), "trade_date": trade_date,
        }
        for item in fetches
    ]  # fmt: skip
    _insert_rows(sql, connection, "sys_fetch", rows)


def _insert_rows(sql: Sql, connection: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows with the same columns, one or more."""
    connection.exec_driver_sql(sql.insert(table, list(rows[0])), [tuple(row.values()) for row in rows])


def insert_quality(
    sql: Sql, connection: Connection, table: Table, batch: Batch, quality: Sequence[Quality], now: str
) -> None:
    """Failed checks of a batch; of the rows of one check, the first MAX_QUALITY_ROWS."""
    if not quality:
        return
    stored: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    for item in quality:
        if item.natural_key is not None:
            stored[item.check] = stored.get(item.check, 0) + 1
            if stored[item.check] > MAX_QUALITY_ROWS:
                continue
        rows.append(
            {
                "batch_id": batch.batch_id, "table_name": table.name, "check_name": item.check[:128],
                "severity": item.severity, "column_name": item.column,
                "natural_key": None if item.natural_key is None else item.natural_key[:255],
                "code": item.code, "partition_key": batch.partition_key,
                "failed_value": None if item.failed_value is None else item.failed_value[:255],
                "failed_count": item.failed_count, "total_count": item.total_count, "action": item.action,
                "message": item.message[:512],
                "sources_json": None if item.sources is None else canonical_json(item.sources),
                "created_at": now, "updated_at": now,
            }
        )  # fmt: skip
    _insert_rows(sql, connection, "sys_quality_record", rows)
