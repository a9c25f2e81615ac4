"""The ledger of scheduled runs (`sys_slot`): each is claimed before Dagster is asked for its run, so it runs
at most once, whether a schedule, the sensor or a command fires it. It has a row also when nothing ran, with
the reason.

    (no row) ──claim──> queued ──begin──> running ──finish──> success | partial | failed | canceled
       └──wait──> queued (unclaimed) ──claim──>        partial | failed ──retry──> queued, attempt + 1
       └──set_aside──> skipped | missed ──claim──> queued (only when a changed table makes it due again)

A `partial` run loaded some of its tables. A run that nobody hears of is `lost` only when its claim is old and
its owner is not at work. That verdict is a presumption: the run's own end overrules it, in its row and in the
sync log.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection, Engine

from core.clock import stamp
from core.errors import ConflictError, InputError
from resources.orchestrator import SLOT_TAG, TASK_TAG
from resources.redact import redact
from resources.warehouse.deadlocks import tried_again
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import HELD, Command, held
from resources.warehouse.ledger.scheduled_run_reads import (
    ENDED,
    LOST,
    PRESUMED,
    RETRIED,
    SET_ASIDE,
    ScheduledRunReads,
    ScheduledRunRow,
    seconds,
)
from resources.warehouse.ledger.tasks import ScheduledRun
from resources.warehouse.sql import marks

_REASON_LENGTH = 255
CLAIM_LIMIT_S = 120.0
"""Seconds without a Dagster run after which another claimer may take over, and the run counts as lost."""
_OPEN = "status IN ('queued', 'running')"
_UNCLAIMED = "status='queued' AND claimed_by IS NULL AND run_id IS NULL"
_GIVEN_UP = f"status='failed' AND reason IN ({marks(PRESUMED)})"


class ScheduledRunLedger(ScheduledRunReads):
    """Claims, transitions and reads of `sys_slot`. Every method is one transaction."""

    def __init__(self, engine: Engine, *, claim_limit_s: float = CLAIM_LIMIT_S) -> None:
        super().__init__(engine)
        self._limit = claim_limit_s

    # -- claims -----------------------------------------------------------------------------------

    def claim(
        self,
        scheduled: ScheduledRun,
        claimant: str,
        *,
        trade_date: str | None,
        trigger: str = "schedule",
        reason: str | None = None,
        attempt: int = 1,
    ) -> bool:
        """Claim a scheduled run before Dagster is asked for it; False when it is claimed or has run.

        `claimant` names the evaluation, not the process: the same tick, evaluated again after a crash,
        takes its own claim back at once; any other claimant waits `claim_limit_s` without a run.
        """
        now = self._sql.now
        row: dict[str, Any] = {"trade_date": trade_date, "trigger": trigger, "reason": reason}
        if self._add(scheduled, status="queued", attempt=attempt, claimant=claimant, **row):
            return True
        claimed = (claimant, seconds(scheduled.due), trade_date, trigger, _short(reason))
        mine = (scheduled.task, scheduled.name, attempt, claimant, self._limit)
        taken = self._sql.change(
            f"UPDATE sys_slot SET status='queued', claimed_by=?, claimed_at={now}, slot_at=?, "
            "trade_date=?, trigger_type=?, reason=?, finished_at=NULL "
            "WHERE task_key=? AND slot=? AND run_id IS NULL AND attempt=? "
            "AND (status IN ('skipped', 'missed') OR (status='queued' AND "
            f"(claimed_by IS NULL OR claimed_by=? OR claimed_at < {now} - ?)))",
            (*claimed, *mine),
        )
        return taken == 1

    def retry(self, row: ScheduledRunRow, claimant: str) -> bool:
        """Claim the next attempt of a scheduled run that failed (in part); False when another one did."""
        taken = self._sql.change(
            f"UPDATE sys_slot SET status='queued', attempt=attempt+1, claimed_by=?, "
            f"claimed_at={self._sql.now}, run_id=NULL, reason=NULL, started_at=NULL, finished_at=NULL "
            f"WHERE id=? AND status IN ({marks(RETRIED)}) AND attempt=?",
            (claimant, row.id, *RETRIED, row.attempt),
        )
        return taken == 1

    def wait(self, scheduled: ScheduledRun, reason: str, *, trade_date: str | None) -> None:
        """Record what a due run waits for; one that is claimed or settled is left alone."""
        if self._add(scheduled, status="queued", trade_date=trade_date, trigger="schedule", reason=reason):
            return
        self._sql.change(
            f"UPDATE sys_slot SET reason=?, slot_at=? WHERE task_key=? AND slot=? AND {_UNCLAIMED}",
            (_short(reason), seconds(scheduled.due), scheduled.task, scheduled.name),
        )

    def set_aside(self, scheduled: ScheduledRun, status: str, reason: str, *, trade_date: str | None) -> bool:
        """Record that a scheduled run does not run (`skipped` or `missed`) and why; a claimed one is left
        alone. True when this call recorded it."""
        if status not in SET_ASIDE:
            raise InputError("status", f"{status!r} is none of {', '.join(SET_ASIDE)}")
        if self._add(scheduled, status=status, trade_date=trade_date, trigger="schedule", reason=reason):
            return True
        changed = self._sql.change(
            f"UPDATE sys_slot SET status=?, reason=? WHERE task_key=? AND slot=? AND {_UNCLAIMED}",
            (status, _short(reason), scheduled.task, scheduled.name),
        )
        return changed == 1

    @tried_again
    def by_hand(
        self,
        task_key: str,
        *,
        at: datetime,
        trade_date: str | None,
        command_id: int,
        run_id: str,
        claim: Command | None = None,
    ) -> ScheduledRunRow:
        """A row for a run that somebody asked for; it is running from now on. `at` = market time.
        ConflictError when the command (`claim`) is another worker's by now: the row is that one's run's."""
        condition, facts = ("1=1", ()) if claim is None else (HELD, held(claim))
        name = f"manual:{command_id}" if trade_date is None else f"manual:{command_id}:{trade_date}"
        scheduled = ScheduledRun(task_key, name, at)
        with transaction(self._engine) as connection:
            self._insert(
                connection,
                scheduled,
                status="running",
                trade_date=trade_date,
                trigger="manual",
                reason=None,
                claimant=f"command:{command_id}",
            )
            # A command that is tried again after its worker died goes on in its own row.
            mine = self._sql.run(
                connection,
                "UPDATE sys_slot SET status='running', run_id=?, command_id=?, started_at=?, "
                f"claimed_at={self._sql.now}, reason=NULL, finished_at=NULL "
                f"WHERE task_key=? AND slot=? AND {condition}",
                (run_id, command_id, stamp(at), task_key, scheduled.name, *facts),
            ).rowcount
            if mine == 0 and claim is not None:
                raise ConflictError(f"command {command_id} is no longer ours")
            found = self._get(connection, scheduled)
        if found is None:
            raise ConflictError(f"slot {scheduled.name} of {task_key} vanished while it was written")
        return found

    # -- runs -------------------------------------------------------------------------------------

    def adopt(self, row: ScheduledRunRow, run_id: str) -> bool:
        """Tie a claimed row to the Dagster run that was made for it but has not started yet."""
        statement = "UPDATE sys_slot SET run_id=? WHERE id=? AND run_id IS NULL AND status='queued'"
        return self._sql.change(statement, (run_id, row.id)) == 1

    @tried_again
    def begin(self, task_key: str, scheduled: str, run_id: str, *, now: datetime) -> None:
        """The first act of a Dagster run: write its id into its row. Repeating it is harmless. ConflictError
        when the row belongs to another one, so that of two Dagster runs for one scheduled run only one
        works."""
        with transaction(self._engine) as connection:
            # Not while another transaction moves the row: the id decides, then the state is set once.
            mine = self._sql.run(
                connection,
                "UPDATE sys_slot SET run_id=?, status='running', started_at=? "
                "WHERE task_key=? AND slot=? AND status='queued' AND (run_id IS NULL OR run_id=?)",
                (run_id, stamp(now), task_key, scheduled, run_id),
            ).rowcount
            if mine == 1:
                return
            holder = self._sql.run(
                connection,
                "SELECT run_id, status FROM sys_slot WHERE task_key=? AND slot=?",
                (task_key, scheduled),
            ).first()
        if holder is None:
            raise ConflictError(f"{task_key} {scheduled}: it was never claimed")
        if holder[0] != run_id:
            raise ConflictError(f"{task_key} {scheduled}: it belongs to run {holder[0]} ({holder[1]})")

    def enter(self, run_id: str, tags: Mapping[str, str], *, now: datetime) -> None:
        """`begin` for a Dagster run with the tags of a scheduled run (task and slot); one without them has no
        row. Called first in every step of a run."""
        if SLOT_TAG in tags:
            self.begin(tags[TASK_TAG], tags[SLOT_TAG], run_id, now=now)

    @tried_again
    def finish(
        self, run_id: str, status: str, *, now: datetime, reason: str | None = None
    ) -> ScheduledRunRow | None:
        """Settle the row of a Dagster run and write its line of the sync log, together: `sched:<key>` for a
        task of the table, the job's plain name for work that only somebody asks for (download, first load).
        None when the run has no open row. A row that others gave up for this run is settled again, unless
        they do so once more."""
        if status not in ENDED:
            raise InputError("status", f"{status!r} is none of {', '.join(ENDED)}")
        with transaction(self._engine) as connection:
            row = self._settle(connection, run_id, status, now, reason, _OPEN)
            if row is None and reason not in PRESUMED:
                row = self._settle(connection, run_id, status, now, reason, _GIVEN_UP, PRESUMED)
            return row

    @tried_again
    def lose(self, run_id: str, *, now: datetime) -> ScheduledRunRow | None:
        """Give up a row whose run the orchestrator does not know. None, and nothing is changed, while the
        claim is younger than its limit, for the run may be about to come, and while the command that
        claimed it is at work. One statement decides: what was seen before it counts for nothing."""
        at_work = (
            "SELECT 1 FROM sys_command c WHERE c.id=sys_slot.command_id AND c.run_id=sys_slot.run_id "
            f"AND c.status='running' AND c.expires_at >= {self._sql.now}"
        )
        condition = (
            f"{_OPEN} AND (claimed_at IS NULL OR claimed_at < {self._sql.now} - ?) AND NOT EXISTS ({at_work})"
        )
        with transaction(self._engine) as connection:
            return self._settle(connection, run_id, "failed", now, LOST, condition, (self._limit,))

    # -- inside -----------------------------------------------------------------------------------

    def _settle(
        self,
        connection: Connection,
        run_id: str,
        status: str,
        now: datetime,
        reason: str | None,
        condition: str,
        values: tuple[object, ...] = (),
    ) -> ScheduledRunRow | None:
        """Settle the row of a run where `condition` (with its `values`) holds, and log it."""
        overrules = condition == _GIVEN_UP
        reported = "?" if overrules else "COALESCE(?, reason)"
        changed = self._sql.run(
            connection,
            f"UPDATE sys_slot SET status=?, finished_at=?, reason={reported} WHERE run_id=? AND {condition}",
            (status, stamp(now), _short(reason), run_id, *values),
        ).rowcount
        if changed == 0:
            return None
        (row,) = self._select(connection, "WHERE run_id=?", (run_id,))
        self._log(connection, row, overrules)
        return row

    def _log(self, connection: Connection, row: ScheduledRunRow, overrules: bool) -> None:
        """Write the line of the sync log of a settled row, in place of that of an overruled verdict."""
        counts = self._sql.run(
            connection,
            "SELECT COUNT(*), SUM(CASE WHEN status='success' THEN 1 ELSE 0 END), "
            "SUM(CASE WHEN status IN ('failed', 'partial') THEN 1 ELSE 0 END) FROM sys_batch WHERE run_id=?",
            (row.run_id,),
        ).one()
        known = self._sql.run(connection, "SELECT 1 FROM sys_task WHERE task_key=?", (row.task_key,)).first()
        is_task = known is not None or row.trigger != "manual"
        line = {
            "task_type": f"sched:{row.task_key}" if is_task else row.task_key,
            "status": row.status,
            "total": int(counts[0] or 0),
            "success": int(counts[1] or 0),
            "failed": int(counts[2] or 0),
            "message": row.reason,
            "started_at": None if row.started_at is None else stamp(row.started_at),
            "finished_at": None if row.finished_at is None else stamp(row.finished_at),
            "run_id": row.run_id,
            "trigger_type": row.trigger,
        }
        if overrules:
            verdict = (line["task_type"], row.run_id)
            self._sql.run(connection, "DELETE FROM sys_sync_log WHERE task_type=? AND run_id=?", verdict)
        self._sql.put(connection, "sys_sync_log", line)

    @tried_again
    def _add(self, scheduled: ScheduledRun, **row: Any) -> bool:
        """Insert the row if there is none, in a transaction of its own: an insert that finds a row
        shares its lock on MariaDB, and two that then both want to change it would be a deadlock."""
        with transaction(self._engine) as connection:
            return self._insert(connection, scheduled, **row)

    def _insert(
        self,
        connection: Connection,
        scheduled: ScheduledRun,
        *,
        status: str,
        trade_date: str | None,
        trigger: str,
        reason: str | None,
        attempt: int = 1,
        claimant: str | None = None,
    ) -> bool:
        row: dict[str, Any] = {
            "task_key": scheduled.task,
            "slot": scheduled.name,
            "slot_at": seconds(scheduled.due),
            "trade_date": trade_date,
            "trigger_type": trigger,
            "status": status,
            "reason": _short(reason),
            "attempt": attempt,
            "claimed_by": claimant,
        }
        statement = self._sql.insert_absent("sys_slot", list(row))
        made = connection.exec_driver_sql(statement, tuple(row.values())).rowcount
        if made == 1 and claimant is not None:
            self._sql.run(
                connection,
                f"UPDATE sys_slot SET claimed_at={self._sql.now} WHERE task_key=? AND slot=?",
                (scheduled.task, scheduled.name),
            )
        return made == 1


def _short(reason: str | None) -> str | None:
    """Fit to be stored and shown: an error that ended a run may quote an address with its password."""
    return None if reason is None else redact(reason)[:_REASON_LENGTH]
