"""Reads of the ledger of scheduled runs: its rows, and what is derived from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.engine import Connection

from resources.warehouse.engine import reading
from resources.warehouse.ledger.tasks import ScheduledRun
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger, marks

DONE = ("success", "partial")
ENDED = ("success", "partial", "failed", "canceled")
SET_ASIDE = ("skipped", "missed")
RETRIED = ("failed", "partial")
"""What another attempt may mend; a `partial` run whose Dagster run succeeded is not tried again."""
STATUSES = ("queued", "running", *ENDED, *SET_ASIDE)
LOST = "its run does not exist any more"
PROCESS_DIED = "its process died"
PRESUMED = (LOST,)
"""Reasons of verdicts that others gave on a run. What the run itself says of its end wins over them."""

_COLUMNS = (
    "id, task_key, slot, slot_at, trade_date, trigger_type, status, reason, attempt, claimed_by, "
    "claimed_at, run_id, command_id, started_at, finished_at"
)


@dataclass(frozen=True)
class ScheduledRunRow:
    """One row of the ledger; times are naive local exchange time."""

    id: int
    task_key: str
    slot: str
    slot_at: datetime
    trade_date: str | None
    trigger: str
    status: str
    reason: str | None
    attempt: int
    claimed_by: str | None
    claimed_at: float | None
    run_id: str | None
    command_id: int | None
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def settled(self) -> bool:
        """Whether the run has ended or is given up; only a new request changes its row."""
        return self.status in ENDED or self.status in SET_ASIDE

    @property
    def presumed(self) -> bool:
        """It failed in the eyes of others, who did not hear from its run."""
        return self.status == "failed" and self.reason in PRESUMED

    @property
    def duration_s(self) -> float | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


def seconds(value: datetime) -> str:
    """A time as `slot_at` holds it."""
    return value.strftime("%Y-%m-%d %H:%M:%S")


class ScheduledRunReads(Ledger):
    """Reads of `sys_slot`."""

    def done(self, task_key: str, trade_date: str, needed: Collection[str] = ()) -> bool:
        """Whether a task has succeeded for a trade date, on schedule or by hand: as a whole, or in part with
        none of the `needed` tables among those that failed."""
        found = self._sql.rows(
            "SELECT status, run_id FROM sys_slot WHERE task_key=? AND trade_date=? "
            f"AND status IN ({marks(DONE)})",
            (task_key, trade_date, *DONE),
        )
        return any(status == "success" or self._failed(run_id).isdisjoint(needed) for status, run_id in found)

    def _failed(self, run_id: str | None) -> frozenset[str]:
        """Tables that a run did not load."""
        rows = self._sql.rows(
            "SELECT table_name FROM sys_batch WHERE run_id=? AND status IN ('failed', 'success') "
            "GROUP BY table_name HAVING SUM(CASE WHEN status='success' THEN 1 ELSE 0 END)=0",
            (run_id,),
        )
        return frozenset(str(name) for (name,) in rows)

    def done_dates(self, task_key: str, states: Sequence[str] = ("success",)) -> frozenset[str]:
        """The trade dates for which a task has succeeded (for a range of dates, its last one)."""
        found = self._sql.rows(
            "SELECT DISTINCT trade_date FROM sys_slot WHERE task_key=? AND trade_date IS NOT NULL "
            f"AND status IN ({marks(states)})",
            (task_key, *states),
        )
        return frozenset(str(date) for (date,) in found)

    def get(self, scheduled: ScheduledRun) -> ScheduledRunRow | None:
        with reading(self._engine) as connection:
            return self._get(connection, scheduled)

    def since(self, start: datetime) -> dict[tuple[str, str], ScheduledRunRow]:
        """Rows due from `start` on and all rows that are still open, by (task key, name of the run)."""
        where = "WHERE slot_at >= ? OR status IN ('queued', 'running')"
        found = self._found(where, (seconds(start - timedelta(days=1)),))
        return {(row.task_key, row.slot): row for row in found}

    def latest(self) -> dict[str, ScheduledRunRow]:
        """The newest row of each task that ran or is running, by task key."""
        newest = "SELECT MAX(id) FROM sys_slot WHERE run_id IS NOT NULL GROUP BY task_key"
        return {row.task_key: row for row in self._found(f"WHERE id IN ({newest})", ())}

    def active(self, task_key: str | None = None) -> list[ScheduledRunRow]:
        """Scheduled runs with a run that has not ended, and claimed ones whose run is still to start."""
        only, values = ("", ()) if task_key is None else (" AND task_key=?", (task_key,))
        where = "WHERE (status='running' OR (status='queued' AND claimed_by IS NOT NULL))"
        return self._found(f"{where}{only} ORDER BY id", values)

    def counts(self, day: str) -> dict[str, int]:
        """How many scheduled runs of a calendar day are in each state."""
        rows = self._sql.rows(
            "SELECT status, COUNT(*) FROM sys_slot WHERE slot_at >= ? AND slot_at <= ? GROUP BY status",
            (f"{day} 00:00:00", f"{day} 23:59:59"),
        )
        return {str(status): int(count) for status, count in rows}

    def runs(
        self,
        *,
        task_key: str | None = None,
        status: str | None = None,
        day: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[ScheduledRunRow], int]:
        """Rows newest first, and how many match. `day` is the trade date, or the day on which the run is
        due."""
        due = "(trade_date=? OR (slot_at >= ? AND slot_at <= ?))"
        conditions: list[tuple[str, tuple[str | None, ...]]] = [
            ("task_key=?", (task_key,)),
            ("status=?", (status,)),
            (due, (day, f"{day} 00:00:00", f"{day} 23:59:59")),
        ]
        given = [(clause, bound) for clause, bound in conditions if bound[0] is not None]
        where = " AND ".join(["WHERE 1=1", *(clause for clause, _ in given)])
        values = tuple(value for _, bound in given for value in bound)
        (total,) = self._sql.rows(f"SELECT COUNT(*) FROM sys_slot {where}", values)
        newest = f"{where} ORDER BY slot_at DESC, id DESC LIMIT ? OFFSET ?"
        return self._found(newest, (*values, limit, offset)), int(total[0])

    def batches_failed(self, run_id: str) -> bool:
        """Whether a run that ended well left a batch that did not (its row is `partial`)."""
        statement = "SELECT 1 FROM sys_batch WHERE run_id=? AND status IN ('failed', 'partial') LIMIT 1"
        return bool(self._sql.rows(statement, (run_id,)))

    def _get(self, connection: Connection, scheduled: ScheduledRun) -> ScheduledRunRow | None:
        found = self._select(connection, "WHERE task_key=? AND slot=?", (scheduled.task, scheduled.name))
        return found[0] if found else None

    def _found(self, where: str, values: tuple[object, ...]) -> list[ScheduledRunRow]:
        with reading(self._engine) as connection:
            return self._select(connection, where, values)

    def _select(
        self, connection: Connection, where: str, values: tuple[object, ...]
    ) -> list[ScheduledRunRow]:
        rows = self._sql.run(connection, f"SELECT {_COLUMNS} FROM sys_slot {where}", values)
        return [record(ScheduledRunRow, row) for row in rows.all()]
