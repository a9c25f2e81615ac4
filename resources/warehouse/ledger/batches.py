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


class BatchLedger(Ledger):
    """Open batches of one warehouse."""

    def open_runs(self) -> list[str]:
        """Runs that have a batch in progress; the batch of a dead run stays so until it is closed here."""
        statement = "SELECT DISTINCT run_id FROM sys_batch WHERE status='running' AND run_id IS NOT NULL"
        return [str(run_id) for (run_id,) in self._sql.rows(statement)]

    def fail_open(self, run_id: str, reason: str, *, now: datetime) -> list[str]:
        """Mark the batches that a run left open as failed, at market time `now`, with the figures of the
        partitions that it did commit. Returns the ids of the batches."""
        with transaction(self._engine) as connection:
            ids = self._sql.run(
                connection, "SELECT batch_id FROM sys_batch WHERE status='running' AND run_id=?", (run_id,)
            ).scalars()
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
                where = "batch_id=? AND status='running'"
                changed = self._sql.set(connection, "sys_batch", row, where, (batch_id,))
                if changed == 1:
                    failed.append(batch_id)
        return failed
