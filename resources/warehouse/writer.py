"""The contract of one batch (architecture §4): everything of a write commits together or not at all.

Order inside the transaction: take the table's version row -> batch row -> compare with the slice's content
-> history of superseded rows -> upsert of new and changed rows -> fetches, quality records, provenance
patterns -> version row, batch counts -> lease refresh -> commit.

Equal rows are not touched: their `updated_at`, batch and validity stay. Provenance, batch and times are
not content, so a fallback that brings equal values makes no revision.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from sqlalchemy.engine import Connection, Engine

from core.clock import Clock, stamp
from core.declaration.frames import coerce, rows
from core.declaration.tables import Table
from resources import tracing
from resources.fetch_record import Fetch
from resources.redact import redact
from resources.spans import Span
from resources.warehouse.batch_records import (
    COUNTS,
    Batch,
    Quality,
    children_counts,
    end_batch,
    insert_batch,
    insert_fetches,
    insert_quality,
)
from resources.warehouse.bulk_load import BulkLoad
from resources.warehouse.change_plan import Plan, Row
from resources.warehouse.comparison import Comparison, RowWrites
from resources.warehouse.engine import transaction
from resources.warehouse.locks import DomainLocks, Lease
from resources.warehouse.month_changes import record_months
from resources.warehouse.payloads import PayloadStore
from resources.warehouse.slices import Slice
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, update
from resources.warehouse.table_versions import claim_version

log = logging.getLogger(__name__)
MAX_ROWS = 50_000
"""Rows that one transaction writes at most, unless a single batch has more: it bounds how long readers of
MariaDB and other writers wait."""


@dataclass(frozen=True)
class Piece:
    """The rows of one batch, and what is stored with them. `frame` holds the table's content columns, plus
    `src`, `quality`, `quality_flags`, `provenance` (canonical JSON or null) and `payload` where the layer
    has them; `where` is the slice that it is compared with. `public_at` gives the instant at which each
    row's first version became public (DWD); `later` names columns that were not known by then, `later_rows`
    marks those rows (None: all)."""

    frame: pd.DataFrame
    where: Slice
    batch: Batch
    rejected: int = 0
    missing: str | None = None
    """What the sources did not bring of it: the batch is `partial`, its rows are written."""
    quality: Sequence[Quality] = ()
    fetches: Sequence[Fetch] = ()
    public_at: Sequence[str | None] | None = None
    later: Sequence[str] = ()
    later_rows: Sequence[bool] | None = None


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
    missing: str | None = None

    @property
    def changed(self) -> bool:
        return bool(self.rows_written or self.rows_removed)


def _ids(batch: Batch) -> dict[str, Any]:
    """What a log record about a batch carries."""
    return {"batch_id": batch.batch_id, "run_id": batch.run_id, "command_id": batch.command_id}


def incoming_of(table: Table, frames: Sequence[pd.DataFrame]) -> list[list[Row]]:
    """The frames as rows for the driver. Frames with equal columns are converted together: one by one, the
    conversion of the hundreds of small frames of a range would cost more than the rest of the write."""
    rows_of_frames: list[list[Row]] = [[] for _ in frames]
    alike: dict[tuple[Any, ...], list[int]] = {}
    for at, frame in enumerate(frames):
        if len(frame):
            alike.setdefault((*frame.columns, *frame.dtypes), []).append(at)
    for places in alike.values():
        whole = pd.concat([frames[at] for at in places], ignore_index=True)
        found = rows(coerce(whole, table.all_columns)[0], table.names)
        start = 0
        for at in places:
            rows_of_frames[at] = found[start : start + len(frames[at])]
            start += len(frames[at])
    return rows_of_frames


class Writer:
    """Transactional writes of declared tables on one warehouse."""

    def __init__(self, engine: Engine, clock: Clock, payloads: PayloadStore, locks: DomainLocks) -> None:
        self._engine = engine
        self._sql = Sql(engine)
        self._clock = clock
        self._payloads = payloads
        self._locks = locks
        bulk = BulkLoad(engine)
        self._comparison = Comparison(self._sql, bulk)
        self._row_writes = RowWrites(self._sql, bulk)

    def write(
        self,
        table: Table,
        frame: pd.DataFrame,
        *,
        where: Slice,
        batch: Batch,
        lease: Lease | None = None,
        source_rank: Mapping[str, int] | None = None,
        replace: bool = False,
        **fields: Any,
    ) -> WriteResult:
        """Bring the rows of one slice up to a frame in one transaction: a `Piece` and `write_all`."""
        piece = Piece(frame, where, batch, **fields)
        (result,) = self.write_all(table, [piece], lease=lease, source_rank=source_rank, replace=replace)
        return result

    def write_all(
        self,
        table: Table,
        pieces: Sequence[Piece],
        *,
        lease: Lease | None = None,
        source_rank: Mapping[str, int] | None = None,
        replace: bool = False,
    ) -> list[WriteResult]:
        """Bring the rows of slices that share no key up to their frames, all in one transaction.

        Many dates at once are written in the order of the table's key: a page of the clustered index is
        touched once for all of them instead of once per date. `source_rank` (0 = best): a stored `ok` row
        is not overwritten by a `warning` row of a worse source. `replace` removes stored rows of a slice
        that its frame lacks (calculated tables, block members); otherwise absence deletes nothing.
        Raises LockLost, StorageError; then nothing is written.
        """
        with self._traced("write", table, [piece.batch for piece in pieces]) as step:
            results = self._written(
                table, pieces, lease=lease, source_rank=source_rank or {}, replace=replace
            )
            step.set({f"ashare.{name}": sum(getattr(one, name) for one in results) for name in COUNTS})
        return results

    def _traced(self, what: str, table: Table, batches: Sequence[Batch]) -> AbstractContextManager[Span]:
        days = sorted(batch.partition_key for batch in batches)
        return tracing.span(
            f"{what} {table.name}",
            "client",
            {
                "db.system.name": self._engine.dialect.name,
                "db.collection.name": table.name,
                "ashare.batches": len(batches),
                "ashare.batch_id": batches[-1].batch_id if batches else None,
                "ashare.partition": "..".join(dict.fromkeys((days[0], days[-1]))) if days else None,
            },
        )

    def _written(
        self,
        table: Table,
        pieces: Sequence[Piece],
        *,
        lease: Lease | None,
        source_rank: Mapping[str, int],
        replace: bool,
    ) -> list[WriteResult]:
        # Bodies are stored before the transaction; one without its row is harmless.
        bodies = [self._payloads.put_all(piece.fetches) for piece in pieces]
        rows_of_frames = incoming_of(table, [piece.frame for piece in pieces])
        asked = time.monotonic()
        with transaction(self._engine) as connection:
            version = claim_version(self._sql, connection, table)
            waited_ms = int((time.monotonic() - asked) * 1000)
            now = stamp(self._clock.now())
            plans = []
            for piece, incoming in zip(pieces, rows_of_frames, strict=True):
                # The pieces waited together: the first one has it, so that sums are right.
                waited = waited_ms if piece is pieces[0] else 0
                insert_batch(self._sql, connection, table, piece.batch, now, lock_wait_ms=waited)
                plans.append(
                    self._planned(
                        connection, table, piece, incoming, now=now, source_rank=source_rank, replace=replace
                    )
                )
            self._row_writes.apply(connection, table, plans)
            results = []
            for piece, plan, paths in zip(pieces, plans, bodies, strict=True):
                insert_fetches(self._sql, connection, piece.batch, piece.fetches, paths)
                insert_quality(self._sql, connection, table, piece.batch, piece.quality, now)
                result = self._finish(connection, table, piece, plan, version=version, now=now)
                version = result.version
                results.append(result)
            if lease is not None:
                self._locks.refresh(connection, lease)
        for piece, result in zip(pieces, results, strict=True):
            log.info(
                "%s %s: %d in, %d written, %d unchanged, %d rejected",
                table.name,
                result.partition_key,
                result.rows_in,
                result.rows_written,
                result.rows_unchanged,
                result.rows_rejected,
                extra=_ids(piece.batch),
            )
        return results

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
        bodies = self._payloads.put_all(fetches)
        with self._traced("refuse", table, [batch]) as step, transaction(self._engine) as connection:
            step.fail(error)
            now = stamp(self._clock.now())
            insert_batch(self._sql, connection, table, batch, now)
            insert_fetches(self._sql, connection, batch, fetches, bodies)
            insert_quality(self._sql, connection, table, batch, quality, now)
            counts = {"rows_in": rows_in, "rows_rejected": rejected}
            why = redact(error)[:2000]
            end_batch(self._sql, connection, batch.batch_id, "failed", counts, now, error=why)
        log.warning("%s %s refused: %s", table.name, batch.partition_key, error, extra=_ids(batch))

    def record_column_files(
        self,
        table: Table,
        batch: Batch,
        counts: Mapping[str, int],
        latest: str,
        *,
        quality: Sequence[Quality] = (),
        lease: Lease | None = None,
    ) -> None:
        """Store a batch whose rows, up to the day `latest`, are in column files. The version of the table
        moves: what is read of it has changed."""
        with self._traced("record", table, [batch]), transaction(self._engine) as connection:
            version = claim_version(self._sql, connection, table) + 1
            now = stamp(self._clock.now())
            insert_batch(self._sql, connection, table, batch, now)
            insert_quality(self._sql, connection, table, batch, quality, now)
            end_batch(self._sql, connection, batch.batch_id, "success", counts, now)
            self._sql.run(
                connection,
                "UPDATE table_version SET version=?, updated_at=?, latest_date=CASE WHEN latest_date IS NULL "
                "OR latest_date < ? THEN ? ELSE latest_date END WHERE table_name=?",
                (version, now, latest, latest, table.name),
            )
            # Without a month the lake would compare all that it has published.
            record_months(self._sql, connection, table, version, batch.batch_id, [table.month_of(latest)])
            if lease is not None:
                self._locks.refresh(connection, lease)

    def open_parent(self, table: Table, batch: Batch, fetches: Sequence[Fetch]) -> None:
        """A batch that only owns fetches: one download that feeds many date batches."""
        bodies = self._payloads.put_all(fetches)
        with transaction(self._engine) as connection:
            now = stamp(self._clock.now())
            insert_batch(self._sql, connection, table, batch, now)
            insert_fetches(self._sql, connection, batch, fetches, bodies)

    def close_parent(self, batch_id: str, *, error: str | None = None) -> None:
        """Sum the children into their parent; with an `error` the parent has failed, even if children
        committed. It is `partial` when one of them is."""
        now = stamp(self._clock.now())
        status, why = ("success", None) if error is None else ("failed", redact(error)[:2000])
        with transaction(self._engine) as connection:
            sums = children_counts(self._sql, connection, batch_id)
            if error is None:
                of = "parent_batch_id=? AND status='partial'"
                why = self._sql.run(
                    connection, f"SELECT MAX(error) FROM sys_batch WHERE {of}", (batch_id,)
                ).scalar()
                status = status if why is None else "partial"
            end_batch(self._sql, connection, batch_id, status, sums, now, error=why)

    # -- steps of a write, in their order ---------------------------------------------------------

    def _planned(
        self,
        connection: Connection,
        table: Table,
        piece: Piece,
        incoming: list[Row],
        *,
        now: str,
        source_rank: Mapping[str, int],
        replace: bool,
    ) -> Plan:
        given = piece.frame.get("provenance")
        stored = self._comparison.stored(connection, table, piece.where, incoming)
        return Plan.make(
            table=table, incoming=incoming, stored=stored.rows, equal=stored.equal,
            batch_id=piece.batch.batch_id, provenance=None if given is None else given.tolist(), now=now,
            source_rank=source_rank, replace=replace, public_at=piece.public_at, later=piece.later,
            later_rows=piece.later_rows,
        )  # fmt: skip

    def _finish(
        self, connection: Connection, table: Table, piece: Piece, plan: Plan, *, version: int, now: str
    ) -> WriteResult:
        batch, changed = piece.batch, plan.changes
        result = WriteResult(
            batch_id=batch.batch_id,
            table=table.name,
            partition_key=batch.partition_key,
            rows_in=plan.rows_in + piece.rejected,
            rows_ok=plan.rows_in - plan.warnings,
            rows_warning=plan.warnings,
            rows_rejected=piece.rejected,
            rows_unchanged=plan.rows_in - len(plan.written),
            rows_written=len(plan.written),
            rows_superseded=len(plan.history),
            rows_removed=len(plan.removed),
            content_hash=plan.content_hash,
            version=version + 1 if changed else version,
            missing=piece.missing,
        )
        end_batch(
            self._sql,
            connection,
            batch.batch_id,
            "success" if piece.missing is None else "partial",
            asdict(result),
            now,
            content_hash=plan.content_hash,
            error=None if piece.missing is None else redact(piece.missing)[:2000],
        )
        confirmed = {"last_batch_id": batch.batch_id}
        if piece.missing is None:
            confirmed["confirmed_at"] = now
        if not changed:
            connection.execute(update("table_version", confirmed, ANY.table_name == table.name))
            return result
        latest = plan.latest_date
        self._sql.run(
            connection,
            "UPDATE table_version SET version=version+1, row_count=row_count+?, updated_at=?, "
            f"{', '.join(f'{name}=?' for name in confirmed)}, latest_date=CASE WHEN latest_date IS NULL OR "
            "latest_date < ? THEN ? ELSE latest_date END WHERE table_name=?",
            (plan.added - len(plan.removed), now, *confirmed.values(), latest, latest, table.name),
        )
        record_months(self._sql, connection, table, result.version, batch.batch_id, plan.months)
        return result
