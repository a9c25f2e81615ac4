"""Backfills (`sys_backfill`): trade dates of one dataset that Dagster loads, what they cost by plan, and what
Dagster and the batches of its runs said of them last.

    queued -> running -> success | partial | failed | canceled
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from core.clock import stamp
from core.errors import NotFound
from resources.warehouse.engine import transaction
from resources.warehouse.ledger.commands import BACKFILL
from resources.warehouse.records import record
from resources.warehouse.sql import Ledger
from resources.warehouse.stored import ANY, Where, matching, select, stored, update

ENDED = ("success", "partial", "failed", "canceled")
FORGOTTEN = timedelta(minutes=10)
"""The longest time between the row of a backfill and its command, which is usually milliseconds."""
_TABLE = stored("sys_backfill")
OPEN = _TABLE.c.status.in_(("queued", "running"))
NOT_ASKED = OPEN & _TABLE.c.dagster_backfill_id.is_(None)
"""Dagster was not asked for it; one that an earlier version had at work is such a one."""
_COLUMNS = (
    "backfill_id", "dataset", "date_from", "date_to", "plan_json", "status", "partitions_done",
    "partitions_failed", "rows_written", "run_ids_json", "failures_json", "requested_by", "started_at",
    "finished_at", "dagster_backfill_id", "cancel_requested",
)  # fmt: skip


@dataclass(frozen=True)
class Backfill:
    """`failures` maps the trade dates that failed to why. `dagster_id`: the backfill of Dagster that loads
    them, none before it is asked for."""

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
    dagster_id: str | None
    cancel_requested: bool

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
        found = self._read(_TABLE.c.backfill_id == backfill_id)
        if not found:
            raise NotFound(f"no backfill {backfill_id[:64]!r}")
        return found[0]

    def recent(self, *, status: str | None = None, limit: int = 50) -> tuple[list[Backfill], int]:
        """Backfills newest first, and how many match."""
        where = matching(_TABLE.c.status, status)
        (total,) = self._sql.rows(select(_TABLE, sa.func.count()).where(*where))
        return self._read(*where, newest=limit), int(total[0])

    def calls_planned(self, by: str, since: datetime) -> int:
        """Calls of all backfills that were requested since a time."""
        c = _TABLE.c
        rows = self._sql.rows(
            select(_TABLE, c.calls_json).where(c.requested_by == by, c.created_at >= stamp(since))
        )
        return sum(sum(json.loads(text).values()) for (text,) in rows if text)

    def open(self, dataset: str | None = None) -> list[Backfill]:
        """Backfills that have not ended, all or those of a dataset."""
        return self._read(OPEN, *matching(_TABLE.c.dataset, dataset))

    def loaded(self, run_ids: Sequence[str], table: str) -> Loaded:
        """What runs committed to a table, date by date."""
        if not run_ids:
            return Loaded(frozenset(), 0)
        day, written = ANY.partition_key, sa.func.sum(sa.func.coalesce(ANY.rows_written, 0))
        of = [
            ANY.table_name == table,
            ANY.status == "success",
            day.like("____-__-__"),
            ANY.run_id.in_(run_ids),
        ]
        rows = self._sql.rows(select("sys_batch", day, written).where(*of).group_by(day))
        return Loaded(frozenset(str(day) for day, _ in rows), sum(int(count) for _, count in rows))

    def reopen(self, backfill_id: str, *, now: datetime) -> None:
        """Queue a backfill again, without its earlier failures."""
        fresh: dict[str, Any] = {"failures_json": "{}", "partitions_failed": 0, "finished_at": None}
        fresh |= {"dagster_backfill_id": None, "cancel_requested": False}
        self._set(backfill_id, now, status="queued", **fresh)

    def launched(self, backfill_id: str, dagster_id: str, *, now: datetime) -> None:
        """Dagster carries a backfill out from now on."""
        begun: dict[str, Any] = {"dagster_backfill_id": dagster_id, "started_at": stamp(now)}
        self._set(backfill_id, now, NOT_ASKED, status="running", **begun)

    def request_cancel(self, backfill_id: str, *, now: datetime) -> None:
        """Have the worker end a backfill."""
        self._set(backfill_id, now, cancel_requested=True)

    def show(self, row: Backfill, *, at: datetime) -> None:
        """Write the progress or the end of a backfill that has not ended."""
        values: dict[str, Any] = {
            "partitions_done": row.done,
            "partitions_failed": row.failed,
            "rows_written": row.rows_written,
            "run_ids_json": json.dumps(row.run_ids),
            "failures_json": json.dumps(row.failures, ensure_ascii=False),
            **({"finished_at": stamp(at)} if row.ended else {}),
        }
        self._set(row.id, at, OPEN, status=row.status, **values)

    def settle(self, backfill_id: str, status: str, *, now: datetime) -> None:
        """End a backfill that Dagster was not asked for."""
        self._set(backfill_id, now, NOT_ASKED, status=status, finished_at=stamp(now))

    def end_forgotten(self, *, now: datetime) -> list[str]:
        """End backfills that have waited for FORGOTTEN and have no open command: the process that made the
        row died before it queued the command. Returns their ids."""
        waiting = NOT_ASKED & (_TABLE.c.updated_at < stamp(now - FORGOTTEN))
        left = self._read(waiting)
        if not left:
            return []
        # Read after the rows: a command that came since is found, or the row is younger.
        open_commands = select("sys_command", ANY.args_json).where(ANY.command == BACKFILL, OPEN)
        commands = self._sql.rows(open_commands)
        open_ids = {str(json.loads(text or "{}").get("backfill_id")) for (text,) in commands}
        ended = [row.id for row in left if row.id not in open_ids]
        for backfill_id in ended:
            self._set(backfill_id, now, waiting, status="failed", finished_at=stamp(now))
        return ended

    def _set(
        self,
        backfill_id: str,
        now: datetime,
        *where: Where,
        **values: Any,
    ) -> None:
        """Write `values` where the conditions hold."""
        changes = {**values, "updated_at": stamp(now)}
        with transaction(self._engine) as connection:
            connection.execute(update("sys_backfill", changes, ANY.backfill_id == backfill_id, *where))

    def _read(self, *where: Where, newest: int | None = None) -> list[Backfill]:
        c = _TABLE.c
        statement = select(_TABLE, *(c[name] for name in _COLUMNS)).where(*where)
        if newest is not None:
            statement = statement.order_by(c.created_at.desc(), c.backfill_id.desc()).limit(newest)
        return [record(Backfill, row) for row in self._sql.rows(statement)]
