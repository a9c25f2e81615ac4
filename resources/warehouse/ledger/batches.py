"""Abandoned batches: the parents of a range whose run is gone.

A batch that writes rows is finished in the transaction that opens it. Only the parent of a range, which
owns the download, stays `running` over many transactions, so only it can be left behind by a kill.
"""

from datetime import datetime
from typing import Any

from core.clock import stamp
from resources.redact import redact
from resources.warehouse.batch_records import children_counts
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Ledger
from resources.warehouse.stored import select, stored, update

_BATCHES = stored("sys_batch")


class BatchLedger(Ledger):
    """Open batches of one warehouse."""

    def open_runs(self) -> list[str]:
        """Runs that have a batch in progress; the batch of a dead run stays so until it is closed here."""
        c = _BATCHES.c
        runs = select(_BATCHES, c.run_id).distinct().where(c.status == "running", c.run_id.is_not(None))
        return [str(run_id) for (run_id,) in self._sql.rows(runs)]

    def fail_open(self, run_id: str, reason: str, *, now: datetime) -> list[str]:
        """Mark the batches that a run left open as failed, at market time `now`, with the figures of the
        partitions that it did commit. Returns the ids of the batches."""
        with transaction(self._engine) as connection:
            c = _BATCHES.c
            ids = connection.scalars(
                select(_BATCHES, c.batch_id).where(c.status == "running", c.run_id == run_id)
            )
            failed = []
            for batch_id in map(str, ids.all()):
                # The run may have closed it since it was looked up: its own status stays.
                row: dict[str, Any] = {
                    "status": "failed",
                    "error": redact(reason)[:2000],
                    "finished_at": stamp(now),
                    "updated_at": stamp(now),
                    **children_counts(self._sql, connection, batch_id),
                }
                still_open = update(_BATCHES, row, c.batch_id == batch_id, c.status == "running")
                if connection.execute(still_open).rowcount == 1:
                    failed.append(batch_id)
        return failed
