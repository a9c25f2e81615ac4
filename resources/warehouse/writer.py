"""The contract of one batch (architecture §4): everything of a write commits together or not at all.

Order inside the transaction: take the table's version row -> batch row -> read the slice -> compare
content in Python -> history of superseded rows -> upsert of new and changed rows -> fetches, quality
records, provenance patterns -> version row, batch counts -> lease refresh -> commit.

Equal rows are not touched: their `updated_at`, batch and validity stay. Provenance, batch and times are
not content, so a fallback that brings equal values makes no revision.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sqlalchemy.engine import Connection, Engine

from platform_assets.declaration.frames import canonical_json, coerce
from platform_assets.declaration.tables import Table
from resources.clock import Clock, stamp
from resources.errors import StorageError
from resources.fetch import Fetch
from resources.transport.redact import redact
from resources.warehouse.engine import is_sqlite, transaction
from resources.warehouse.locks import DomainLocks, Lease
from resources.warehouse.payloads import PayloadStore
from resources.warehouse.plan import Plan, Row
from resources.warehouse.reads import fetch_plain
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql

log = logging.getLogger(__name__)
MAX_QUALITY_ROWS = 200
"""Failing rows that one check stores; the summary row counts all of them."""


@dataclass(frozen=True)
class Quality:
    """One failed check: of one row (`natural_key` set) or the summary of a check in this batch."""

    check: str
    severity: str  # hard | soft | contract
    action: str  # rejected | warning | table_warning | recorded
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
    """Who writes, why and from what. `inputs`: [{table, batch_ids, rows, max_date}]; `sources`:
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


@dataclass(frozen=True)
class WriteResult:
    """What one write did. rows_ok + rows_warning + rows_rejected = rows_in;
    rows_written + rows_unchanged = rows_ok + rows_warning."""

    batch_id: str
    table: str
    partition_key: str
    rows_in: int
    rows_ok: int
    rows_warning: int
    rows_rejected: int
    rows_unchanged: int
    rows_written: int
    rows_superseded: int
    rows_removed: int
    content_hash: str
    version: int

    @property
    def changed(self) -> bool:
        return bool(self.rows_written or self.rows_removed)


def _ids(batch: Batch) -> dict[str, Any]:
    """What a log record about a batch carries."""
    return {"batch_id": batch.batch_id, "run_id": batch.run_id, "command_id": batch.command_id}


class Writer:
    """Transactional writes of declared tables on one warehouse."""

    def __init__(self, engine: Engine, clock: Clock, payloads: PayloadStore, locks: DomainLocks) -> None:
        self._engine = engine
        self._sql = Sql(engine)
        self._clock = clock
        self._payloads = payloads
        self._locks = locks

    def write(
        self,
        table: Table,
        frame: pd.DataFrame,
        *,
        where: Slice,
        batch: Batch,
        rejected: int = 0,
        quality: Sequence[Quality] = (),
        fetches: Sequence[Fetch] = (),
        lease: Lease | None = None,
        public_at: Sequence[str | None] | None = None,
        source_rank: Mapping[str, int] | None = None,
        replace: bool = False,
    ) -> WriteResult:
        """Bring the rows of `where` up to `frame` in one transaction.

        `frame` holds the table's content columns, plus `src`, `quality`, `quality_flags`, `provenance`
        (canonical JSON or null) and `payload` where the layer has them. `public_at` gives the instant at
        which each row's first version became public (DWD). `source_rank` (0 = best): a stored `ok` row is
        not overwritten by a `warning` row of a worse source. `replace` removes stored rows of the slice
        that the frame lacks (calculated tables, block members); otherwise absence deletes nothing.
        Raises LockLost, StorageError; then nothing is written.
        """
        clean, _ = coerce(frame.reset_index(drop=True), table.all_columns)
        bodies = self._store_bodies(fetches)
        with transaction(self._engine) as connection:
            version = self._claim_version(connection, table)
            now = stamp(self._clock.now())
            self._insert_batch(connection, table, batch, now)
            plan = Plan.make(
                table=table,
                frame=clean,
                stored=self._stored(connection, table, where),
                batch_id=batch.batch_id,
                now=now,
                public_at=public_at,
                source_rank=source_rank or {},
                replace=replace,
                provenance=frame["provenance"].tolist() if "provenance" in frame.columns else None,
            )
            self._apply(connection, table, plan)
            self._insert_fetches(connection, batch, fetches, bodies)
            self._insert_quality(connection, table, batch, quality, now)
            result = self._finish(
                connection, table, batch, plan=plan, version=version, rejected=rejected, now=now
            )
            if lease is not None:
                self._locks.refresh(connection, lease)
        log.info(
            "%s %s: %d in, %d written, %d unchanged, %d rejected",
            table.name,
            result.partition_key,
            result.rows_in,
            result.rows_written,
            result.rows_unchanged,
            result.rows_rejected,
            extra=_ids(batch),
        )
        return result

    def record_failure(
        self,
        table: Table,
        batch: Batch,
        error: str,
        *,
        rows_in: int = 0,
        rejected: int = 0,
        quality: Sequence[Quality] = (),
        fetches: Sequence[Fetch] = (),
    ) -> None:
        """Store that a batch was refused before any data write, with its quality records and fetches."""
        bodies = self._store_bodies(fetches)
        with transaction(self._engine) as connection:
            now = stamp(self._clock.now())
            self._insert_batch(connection, table, batch, now)
            self._insert_fetches(connection, batch, fetches, bodies)
            self._insert_quality(connection, table, batch, quality, now)
            connection.exec_driver_sql(
                self._sql.text(
                    "UPDATE sys_batch SET status='failed', error=?, rows_in=?, rows_ok=0, rows_warning=0, "
                    "rows_rejected=?, rows_unchanged=0, rows_written=0, rows_superseded=0, finished_at=?, "
                    "updated_at=? WHERE batch_id=?"
                ),
                (redact(error)[:2000], rows_in, rejected, now, now, batch.batch_id),
            )
        log.warning("%s %s refused: %s", table.name, batch.partition_key, error, extra=_ids(batch))

    def open_parent(self, table: Table, batch: Batch, fetches: Sequence[Fetch]) -> None:
        """A batch that only owns fetches: one download that feeds many date batches."""
        bodies = self._store_bodies(fetches)
        with transaction(self._engine) as connection:
            now = stamp(self._clock.now())
            self._insert_batch(connection, table, batch, now)
            self._insert_fetches(connection, batch, fetches, bodies)

    def close_parent(self, batch_id: str, results: Sequence[WriteResult], status: str = "success") -> None:
        """Sum the children into their parent."""
        now = stamp(self._clock.now())
        sums = [
            sum(getattr(item, name) for item in results)
            for name in (
                "rows_in",
                "rows_ok",
                "rows_warning",
                "rows_rejected",
                "rows_unchanged",
                "rows_written",
                "rows_superseded",
            )
        ]
        with transaction(self._engine) as connection:
            connection.exec_driver_sql(
                self._sql.text(
                    "UPDATE sys_batch SET status=?, rows_in=?, rows_ok=?, rows_warning=?, rows_rejected=?, "
                    "rows_unchanged=?, rows_written=?, rows_superseded=?, finished_at=?, updated_at=? "
                    "WHERE batch_id=?"
                ),
                (status, *sums, now, now, batch_id),
            )

    def _store_bodies(self, fetches: Sequence[Fetch]) -> dict[str, str]:
        """Bodies go to files before the transaction; a file without its row is harmless."""
        return {
            item.fetch_id: self._payloads.put(item.received_at.date().isoformat(), item.sha256, item.body)
            for item in fetches
            if item.body
        }

    # -- steps of a write, in their order ---------------------------------------------------------

    def _claim_version(self, connection: Connection, table: Table) -> int:
        lock = "" if is_sqlite(self._engine) else " FOR UPDATE"
        found = connection.exec_driver_sql(
            self._sql.text(f"SELECT version FROM table_version WHERE table_name=?{lock}"), (table.name,)
        ).scalar()
        if found is None:
            raise StorageError(f"{table.name} has no version row; the warehouse was not migrated")
        return int(found)

    def _insert_batch(self, connection: Connection, table: Table, batch: Batch, now: str) -> None:
        values = {
            "batch_id": batch.batch_id,
            "table_name": table.name,
            "fusion_type": batch.fusion_type,
            "domain": batch.domain,
            "trigger_type": batch.trigger,
            "trigger_ref": batch.trigger_ref,
            "command_id": batch.command_id,
            "parent_batch_id": batch.parent_batch_id,
            "run_id": batch.run_id,
            "partition_key": batch.partition_key,
            "codes_count": batch.codes_count,
            "inputs_json": canonical_json(list(batch.inputs)),
            "sources_json": canonical_json(list(batch.sources)),
            "checks_json": canonical_json(dict(batch.checks)),
            "code_version": batch.code_version,
            "world": batch.world,
            "status": "running",
            "started_at": now,
            "created_at": now,
            "updated_at": now,
        }
        connection.exec_driver_sql(self._sql.insert("sys_batch", list(values)), tuple(values.values()))

    def _stored(self, connection: Connection, table: Table, where: Slice) -> list[Row]:
        found: list[Row] = []
        for clause, values in where.clauses():
            statement = f"SELECT {self._sql.names(table.names)} FROM {self._sql.name(table.name)}{clause}"
            found += fetch_plain(connection, self._sql.text(statement), values)
        return found

    def _apply(self, connection: Connection, table: Table, plan: Plan) -> None:
        if plan.history:
            names = (*table.names, "valid_to", "superseded_by")
            connection.exec_driver_sql(self._sql.insert(table.history_name, names), plan.history)
        if plan.removed:
            condition = " AND ".join(f"{self._sql.name(name)}=?" for name in table.key)
            connection.exec_driver_sql(
                self._sql.text(f"DELETE FROM {self._sql.name(table.name)} WHERE {condition}"), plan.removed
            )
        if plan.written:
            statement = self._sql.upsert(table.name, table.names, table.key)
            connection.exec_driver_sql(statement, plan.written)
        if plan.patterns:
            connection.exec_driver_sql(
                self._sql.insert_absent("sys_provenance", ("id", "pattern")), sorted(plan.patterns.items())
            )

    def _insert_fetches(
        self, connection: Connection, batch: Batch, fetches: Sequence[Fetch], bodies: Mapping[str, str]
    ) -> None:
        if not fetches:
            return
        columns = [
            "fetch_id",
            "batch_id",
            "run_id",
            "upstream",
            "call_name",
            "request_key",
            "request",
            "codes_or_page",
            "http_status",
            "outcome",
            "attempt",
            "byte_count",
            "sha256",
            "body_path",
            "elapsed_ms",
            "received_at",
            "trade_date",
        ]
        trade_date = batch.partition_key if len(batch.partition_key) == 10 else None
        connection.exec_driver_sql(
            self._sql.insert("sys_fetch", columns),
            [
                (
                    item.fetch_id,
                    batch.batch_id,
                    batch.run_id,
                    item.upstream,
                    item.call_name,
                    item.request_key,
                    item.request,
                    item.codes_or_page[:255],
                    item.http_status,
                    str(item.outcome),
                    item.attempt,
                    len(item.body),
                    item.sha256,
                    bodies.get(item.fetch_id),
                    item.elapsed_ms,
                    stamp(item.received_at),
                    trade_date,
                )
                for item in fetches
            ],
        )

    def _insert_quality(
        self, connection: Connection, table: Table, batch: Batch, quality: Sequence[Quality], now: str
    ) -> None:
        if not quality:
            return
        columns = [
            "batch_id",
            "table_name",
            "check_name",
            "severity",
            "column_name",
            "natural_key",
            "code",
            "partition_key",
            "failed_value",
            "failed_count",
            "total_count",
            "action",
            "message",
            "sources_json",
            "created_at",
            "updated_at",
        ]
        stored: dict[str, int] = {}
        values: list[Row] = []
        for item in quality:
            if item.natural_key is not None:
                stored[item.check] = stored.get(item.check, 0) + 1
                if stored[item.check] > MAX_QUALITY_ROWS:
                    continue
            values.append(
                (
                    batch.batch_id,
                    table.name,
                    item.check[:128],
                    item.severity,
                    item.column,
                    None if item.natural_key is None else item.natural_key[:255],
                    item.code,
                    batch.partition_key,
                    None if item.failed_value is None else item.failed_value[:255],
                    item.failed_count,
                    item.total_count,
                    item.action,
                    item.message[:512],
                    None if item.sources is None else canonical_json(item.sources),
                    now,
                    now,
                )
            )
        connection.exec_driver_sql(self._sql.insert("sys_quality_record", columns), values)

    def _finish(
        self,
        connection: Connection,
        table: Table,
        batch: Batch,
        *,
        plan: Plan,
        version: int,
        rejected: int,
        now: str,
    ) -> WriteResult:
        changed = bool(plan.written or plan.removed)
        result = WriteResult(
            batch_id=batch.batch_id,
            table=table.name,
            partition_key=batch.partition_key,
            rows_in=plan.rows_in + rejected,
            rows_ok=plan.rows_in - plan.warnings,
            rows_warning=plan.warnings,
            rows_rejected=rejected,
            rows_unchanged=plan.rows_in - len(plan.written),
            rows_written=len(plan.written),
            rows_superseded=len(plan.history),
            rows_removed=len(plan.removed),
            content_hash=plan.content_hash,
            version=version + 1 if changed else version,
        )
        connection.exec_driver_sql(
            self._sql.text(
                "UPDATE sys_batch SET status='success', rows_in=?, rows_ok=?, rows_warning=?, "
                "rows_rejected=?, rows_unchanged=?, rows_written=?, rows_superseded=?, content_hash=?, "
                "finished_at=?, updated_at=? WHERE batch_id=?"
            ),
            (
                result.rows_in,
                result.rows_ok,
                result.rows_warning,
                result.rows_rejected,
                result.rows_unchanged,
                result.rows_written,
                result.rows_superseded,
                result.content_hash,
                now,
                now,
                batch.batch_id,
            ),
        )
        if changed:
            connection.exec_driver_sql(
                self._sql.text(
                    "UPDATE table_version SET version=version+1, row_count=row_count+?, updated_at=?, "
                    "confirmed_at=?, last_batch_id=?, latest_date=CASE WHEN latest_date IS NULL OR "
                    "latest_date < ? THEN ? ELSE latest_date END WHERE table_name=?"
                ),
                (
                    plan.added - len(plan.removed),
                    now,
                    now,
                    batch.batch_id,
                    plan.latest_date,
                    plan.latest_date,
                    table.name,
                ),
            )
        else:
            connection.exec_driver_sql(
                self._sql.text("UPDATE table_version SET confirmed_at=?, last_batch_id=? WHERE table_name=?"),
                (now, batch.batch_id, table.name),
            )
        return result
