"""Backfills (`sys_backfill`): trade dates of one dataset that the worker loads, and how far it is."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.clock import stamp
from core.errors import ConflictError, NotFound
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import BACKFILL, HELD, Command, held
from resources.warehouse.ledger.scheduled_run_reads import PROCESS_DIED
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger, marks

ENDED = ("success", "partial", "failed", "canceled")
STATUSES = ("queued", "running", *ENDED)
FORGOTTEN = timedelta(minutes=10)
"""The longest time between the row of a backfill and its command, which is usually milliseconds."""
_PASSING = ("Transient", "Unavailable", "ConflictError", "LockLost", "StorageError")
"""Names of errors after which the same may succeed."""
_COLUMNS = (
    "backfill_id, dataset, date_from, date_to, plan_json, status, partitions_done, partitions_failed, "
    "rows_written, run_ids_json, failures_json, requested_by, started_at, finished_at"
)


@dataclass(frozen=True)
class Backfill:
    """`failures` maps the trade dates that failed to why."""

    id: str
    dataset: str
    since: str
    until: str
    plan: dict[str, list[str]]
    status: str
    done: int
    failed: int
    rows_written: int
    run_ids: tuple[str, ...]
    failures: dict[str, str]
    requested_by: str | None
    started_at: str | None
    finished_at: str | None

    @property
    def days(self) -> tuple[str, ...]:
        """Its trade dates, ascending."""
        return tuple(self.plan["days"])

    @property
    def ended(self) -> bool:
        return self.status in ENDED


@dataclass(frozen=True)
class Loaded:
    """What the runs of a backfill committed: its trade dates, and the rows that they wrote."""

    days: frozenset[str]
    rows_written: int


class Backfills(Ledger):
    """Both sides of the ledger. Every method is one transaction."""

    def create(
        self,
        dataset: str,
        since: str,
        until: str,
        days: Sequence[str],
        *,
        by: str,
        now: datetime,
        calls: Mapping[str, int] | None = None,
    ) -> Backfill:
        """`calls`: what it will cost by upstream, as planned."""
        values = {
            "backfill_id": uuid.uuid4().hex,
            "dataset": dataset,
            "date_from": since,
            "date_to": until,
            "plan_json": json.dumps({"days": list(days)}),
            "calls_json": None if calls is None else json.dumps(dict(calls)),
            "status": "queued",
            "partitions_total": len(days),
            "requested_by": by,
            "created_at": stamp(now),
            "updated_at": stamp(now),
        }
        with transaction(self._engine) as connection:
            self._sql.put(connection, "sys_backfill", values)
        return self.get(str(values["backfill_id"]))

    def get(self, backfill_id: str) -> Backfill:
        """One backfill; NotFound."""
        found = self._read(" WHERE backfill_id=?", (backfill_id,))
        if not found:
            raise NotFound(f"no backfill {backfill_id[:64]!r}")
        return found[0]

    def recent(self, *, status: str | None = None, limit: int = 50) -> tuple[list[Backfill], int]:
        """Backfills newest first, and how many match."""
        where, values = ("", ()) if status is None else (" WHERE status=?", (status,))
        (total,) = self._sql.rows(f"SELECT COUNT(*) FROM sys_backfill{where}", values)
        order = " ORDER BY created_at DESC, backfill_id DESC LIMIT ?"
        return self._read(where + order, (*values, limit)), int(total[0])

    def calls_planned(self, by: str, since: datetime) -> int:
        """Calls of all backfills that were requested since a time."""
        rows = self._sql.rows(
            "SELECT calls_json FROM sys_backfill WHERE requested_by=? AND created_at>=?", (by, stamp(since))
        )
        return sum(sum(json.loads(text).values()) for (text,) in rows if text)

    def open_of(self, dataset: str) -> list[Backfill]:
        """Backfills of a dataset that have not ended."""
        return self._read(" WHERE dataset=? AND status IN ('queued', 'running')", (dataset,))

    def loaded(self, run_ids: Sequence[str], table: str) -> Loaded:
        """What runs committed to a table, date by date."""
        if not run_ids:
            return Loaded(frozenset(), 0)
        rows = self._sql.rows(
            "SELECT partition_key, SUM(COALESCE(rows_written, 0)) FROM sys_batch WHERE table_name=? "
            f"AND status='success' AND partition_key LIKE '____-__-__' AND run_id IN ({marks(run_ids)}) "
            "GROUP BY partition_key",
            (table, *run_ids),
        )
        return Loaded(frozenset(str(day) for day, _ in rows), sum(int(count) for _, count in rows))

    def may_pass(self, run_id: str, error: str) -> bool:
        """Whether a run failed for a passing reason: an upstream that was unavailable or cooled down, a lock
        that was held, a database that was busy, its own process that died."""
        if error == PROCESS_DIED or any(name in error for name in _PASSING):
            return True
        stored = self._sql.rows(
            "SELECT sources_json FROM sys_batch WHERE run_id=? AND status IN ('failed', 'partial')", (run_id,)
        )
        sources = (source for (text,) in stored for source in json.loads(text or "[]"))
        return any(source.get("error") in _PASSING for source in sources)

    def reopen(self, backfill_id: str, *, now: datetime) -> None:
        """Queue a backfill again, without its earlier failures."""
        self._set(
            backfill_id, now, status="queued", failures_json="{}", partitions_failed=0, finished_at=None
        )

    def show(
        self,
        backfill_id: str,
        status: str,
        *,
        now: datetime,
        done: int,
        rows_written: int,
        run_ids: Sequence[str],
        failures: dict[str, str],
        by: Command | None = None,
    ) -> None:
        """Write the progress or the end of a backfill. For a command (`by`) that another worker has taken
        over nothing is written: that worker reports on it."""
        values: dict[str, Any] = {
            "status": status,
            "partitions_done": done,
            "partitions_failed": len(failures),
            "rows_written": rows_written,
            "run_ids_json": json.dumps(list(run_ids)),
            "failures_json": json.dumps(failures, ensure_ascii=False),
        }
        if status in ENDED:
            values["finished_at"] = stamp(now)
        if by is None:
            self._set(backfill_id, now, **values)
        else:
            self._set(backfill_id, now, HELD, held(by), **values)

    def begin(self, backfill_id: str, *, now: datetime, by: Command | None = None) -> None:
        """Mark a backfill as running. ConflictError when its command (`by`) is another worker's by now:
        that one may have ended the backfill, and it would stay running for ever."""
        condition, facts = ("1=1", ()) if by is None else (HELD, held(by))
        begun = self._sql.change(
            "UPDATE sys_backfill SET status='running', started_at=COALESCE(started_at, ?), "
            f"finished_at=NULL, updated_at=? WHERE backfill_id=? AND {condition}",
            (stamp(now), stamp(now), backfill_id, *facts),
        )
        if begun == 0 and by is not None:
            raise ConflictError(f"command {by.id} is no longer ours")

    def settle(self, backfill_id: str, status: str, *, now: datetime) -> None:
        """End a backfill whose command ended without it: canceled before it began, or given up. One that
        a worker has begun, or ended, is left alone."""
        self._set(backfill_id, now, "status='queued'", status=status, finished_at=stamp(now))

    def end_forgotten(self, *, now: datetime) -> list[str]:
        """End backfills that have had no open command for FORGOTTEN: the process that made the row died
        before it queued the command. Returns their ids."""
        before = stamp(now - FORGOTTEN)
        left = self._read(" WHERE status IN ('queued', 'running') AND updated_at < ?", (before,))
        if not left:
            return []
        # Read after the rows: a command that came since is found, or the row is younger.
        asked = self._sql.rows(
            "SELECT args_json FROM sys_command WHERE command=? AND status IN ('queued', 'running')",
            (BACKFILL,),
        )
        known = {str(json.loads(text or "{}").get("backfill_id")) for (text,) in asked}
        ended = [one.id for one in left if one.id not in known]
        still = "status IN ('queued', 'running') AND updated_at < ?"
        for backfill_id in ended:
            self._set(backfill_id, now, still, (before,), status="failed", finished_at=stamp(now))
        return ended

    def _set(
        self,
        backfill_id: str,
        now: datetime,
        condition: str = "1=1",
        facts: tuple[Any, ...] = (),
        **values: Any,
    ) -> None:
        """Write `values` where `condition` (with its `facts`) holds."""
        changes, where = {**values, "updated_at": stamp(now)}, f"backfill_id=? AND {condition}"
        with transaction(self._engine) as connection:
            self._sql.set(connection, "sys_backfill", changes, where, (backfill_id, *facts))

    def _read(self, rest: str, values: tuple[Any, ...]) -> list[Backfill]:
        rows = self._sql.rows(f"SELECT {_COLUMNS} FROM sys_backfill{rest}", values)
        return [record(Backfill, row) for row in rows]
