"""The command queue (`sys_command`): work that the API requests from the platform.

A command is claimed once (owner = node), held by a heartbeat while it is executed, and finished by
its owner. A claim whose owner died expires: the command is queued again while `attempts < max_attempts`,
else it has failed. Leases are seconds of the database's clock.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection, Engine

from core.clock import Sleeper, SystemClock, real_sleep, stamp
from core.errors import ConflictError, InputError, NotFound
from resources import tracing
from resources.warehouse.deadlocks import tried_again
from resources.warehouse.engine import reading, transaction
from resources.warehouse.records import record
from resources.warehouse.sql import Sql, marks
from resources.warehouse.stored import ANY, update

LEASE_S = 60.0
"""Longer than the longest wait for SQLite's writer (30 s), or a busy database would look like a dead
worker."""
BEAT_S = 10.0
POLL_S = 0.1
FINISHED = ("success", "failed", "canceled")
OPEN = ("queued", "running")
STATUSES = (*OPEN, *FINISHED)
BACKFILL = "backfill"
"""The command that asks Dagster for a row of `sys_backfill`; its argument `backfill_id` names the row."""
DIED_AT_WORK = "the worker died while it worked on this command"

_COLUMNS = (
    "id, command, args_json, status, requested_by, requested_at, owner, attempts, max_attempts, "
    "cancel_requested, run_id, result_json, error, claimed_at, finished_at, idempotency_key, "
    "traceparent"
)


@dataclass(frozen=True)
class Command:
    """One command. `result` is its progress while it runs and its outcome afterwards."""

    id: int
    command: str
    args: dict[str, Any]
    status: str
    requested_by: str | None
    requested_at: datetime | None
    owner: str | None = None
    attempts: int = 0
    max_attempts: int = 1
    cancel_requested: bool = False
    run_id: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    idempotency_key: str | None = None
    traceparent: str | None = None
    """The span that asked for it, where traces are on."""

    @property
    def finished(self) -> bool:
        return self.status in FINISHED


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _now() -> str:
    # The time of a request is real time, also while the market clock is frozen.
    return stamp(SystemClock().now())


HELD = "EXISTS (SELECT 1 FROM sys_command WHERE id=? AND owner=? AND attempts=? AND status='running')"
"""A condition on the row of another ledger: the claim of this command is still held. Its values: `held`."""


def held(command: Command) -> tuple[Any, ...]:
    return (command.id, command.owner, command.attempts)


class CommandQueue:
    """Both sides of the queue. Every method is one transaction."""

    def __init__(self, engine: Engine, *, lease_s: float = LEASE_S) -> None:
        self._engine = engine
        self._sql = Sql(engine)
        self._lease = lease_s

    # -- requesting -----------------------------------------------------------------------------

    def enqueue(
        self,
        command: str,
        args: Mapping[str, Any] | None = None,
        *,
        requested_by: str,
        idempotency_key: str | None = None,
        max_attempts: int = 2,
    ) -> Command:
        """Queue a command. A known idempotency key returns the command that it belongs to, in any state; the
        same key with another command or other arguments is an InputError."""
        found, is_new = self._add(command, args, requested_by, idempotency_key, max_attempts)
        if not is_new and (found.command != command or _json(found.args) != _json(args or {})):
            raise InputError("idempotency_key", f"{idempotency_key!r} belongs to command {found.id}")
        return found

    def work_of_run(self, run_id: str) -> tuple[int, int, int]:
        """Tables that a run has loaded so far, rows that it wrote, responses of upstreams that it stored."""
        batches = "FROM sys_batch WHERE run_id=? AND status IN ('success', 'partial')"
        tables, rows = self._sql.rows(
            f"SELECT COUNT(DISTINCT table_name), COALESCE(SUM(rows_written), 0) {batches}", (run_id,)
        )[0]
        own = "SELECT batch_id FROM sys_batch WHERE run_id=?"
        calls = self._sql.rows(f"SELECT COUNT(*) FROM sys_fetch WHERE batch_id IN ({own})", (run_id,))[0][0]
        return int(tables), int(rows), int(calls)

    def enqueue_alone(
        self,
        command: str,
        args: Mapping[str, Any] | None = None,
        *,
        requested_by: str,
        max_attempts: int = 2,
        about: str = "",
        same: Callable[[Command], bool] | None = None,
    ) -> Command:
        """Queue a command that must not run twice at a time. ConflictError while a command of this name is
        queued or running; of several requests at once, in any processes, one is accepted. Of a command that
        may run for several things at a time, `about` names the thing and `same` knows its commands."""
        # Requests that saw the same last command use the same key, which exists once. It is looked up
        # first: a command that comes after it is found open, or has taken the key.
        known = self.of_name(command, statuses=STATUSES, limit=1 if same is None else None)
        last = next((one for one in known if same is None or same(one)), None)
        for one in self.of_name(command, statuses=OPEN):
            if same is None or same(one):
                raise ConflictError(f"{command} is {one.status} already (command {one.id})")
        key = f"{command}{about and f' {about}'} after {0 if last is None else last.id}"
        found, is_new = self._add(command, args, requested_by, key, max_attempts)
        if not is_new:
            raise ConflictError(f"{command} was asked for already (command {found.id}, {found.status})")
        return found

    @tried_again
    def _add(
        self,
        command: str,
        args: Mapping[str, Any] | None,
        requested_by: str,
        idempotency_key: str | None,
        max_attempts: int,
    ) -> tuple[Command, bool]:
        """(the command, whether it is new); not new is the one that the key belongs to."""
        row: dict[str, Any] = {
            "command": command,
            "args_json": _json(args or {}),
            "idempotency_key": idempotency_key,
            "status": "queued",
            "requested_by": requested_by,
            "requested_at": _now(),
            "attempts": 0,
            "max_attempts": max_attempts,
            "cancel_requested": 0,
            "traceparent": tracing.traceparent(),
        }
        with transaction(self._engine) as connection:
            statement = self._sql.insert_absent("sys_command", list(row))
            made = connection.exec_driver_sql(statement, tuple(row.values()))
            if made.rowcount == 1:
                return self._get(connection, int(made.lastrowid)), True
            return self._select(connection, "WHERE idempotency_key=?", (idempotency_key,))[0], False

    def wait(
        self,
        command_id: int,
        seconds: float,
        *,
        until: Callable[[Command], bool] | None = None,
        sleep: Sleeper = real_sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> Command:
        """The command as soon as it is finished (or `until` holds), at the latest after `seconds`. The
        caller looks at `finished`: a command that takes longer is no error."""
        deadline = monotonic() + seconds
        while True:
            found = self.get(command_id)
            if found.finished or (until is not None and until(found)):
                return found
            left = deadline - monotonic()
            if left <= 0:
                return found
            sleep(min(POLL_S, left))

    @tried_again
    def cancel(self, command_id: int) -> Command:
        """A queued command is canceled at once; a running one is asked to stop.
        NotFound; ConflictError when it is finished."""
        with transaction(self._engine) as connection:
            # One statement, or a command that changes hands between two is taken for a finished one.
            asked = self._sql.run(
                connection,
                "UPDATE sys_command SET cancel_requested=1, "
                "finished_at=CASE WHEN status='queued' THEN ? ELSE finished_at END, "
                "status=CASE WHEN status='queued' THEN 'canceled' ELSE status END "
                "WHERE id=? AND status IN ('queued', 'running')",
                (_now(), command_id),
            ).rowcount
            found = self._get(connection, command_id)
            if asked and found.finished:
                self._ended(connection, found, found.status)
        if asked == 0 and found.status != "running":
            raise ConflictError(f"command {command_id} is finished ({found.status})")
        return found

    def get(self, command_id: int) -> Command:
        """One command; NotFound."""
        with reading(self._engine) as connection:
            return self._get(connection, command_id)

    def recent(self, *, status: str | None = None, limit: int = 50) -> tuple[list[Command], int]:
        """Commands newest first, and how many match."""
        where, values = ("", ()) if status is None else ("WHERE status=?", (status,))
        (total,) = self._sql.rows(f"SELECT COUNT(*) FROM sys_command {where}", values)
        return self._found(f"{where} ORDER BY id DESC LIMIT ?", (*values, limit)), int(total[0])

    def of_name(self, command: str, *, statuses: Collection[str], limit: int | None = None) -> list[Command]:
        """Commands of one name in the given states, newest first."""
        most = "" if limit is None else f" LIMIT {int(limit)}"
        where = f"WHERE command=? AND status IN ({marks(statuses)}) ORDER BY id DESC{most}"
        return self._found(where, (command, *statuses))

    def worked_on_by(self, owner: str) -> list[Command]:
        """The commands that a worker has claimed and not ended."""
        return self._found("WHERE status='running' AND owner=?", (owner,))

    def _found(self, where: str, values: tuple[Any, ...]) -> list[Command]:
        with reading(self._engine) as connection:
            return self._select(connection, where, values)

    def _select(self, connection: Connection, where: str, values: tuple[Any, ...]) -> list[Command]:
        rows = self._sql.run(connection, f"SELECT {_COLUMNS} FROM sys_command {where}", values)
        return [record(Command, row) for row in rows.all()]

    # -- executing -----------------------------------------------------------------------------

    @tried_again
    def claim(
        self, owner: str, *, names: Collection[str] | None = None, without: Collection[str] = ()
    ) -> Command | None:
        """The oldest queued command (of `names`; not one of `without`), now this owner's; None when
        there is none."""
        if names is not None and not names:
            return None
        which, values = "", (*(names or ()), *without)
        for word, listed in (("IN", names), ("NOT IN", without)):
            if listed:
                which += f" AND command {word} ({marks(listed)})"
        now = _now()
        while True:
            oldest = self._sql.rows(
                "SELECT id FROM sys_command WHERE status='queued' "
                f"AND (not_before IS NULL OR not_before <= ?){which} ORDER BY id LIMIT 1",
                (now, *values),
            )
            if not oldest:
                return None
            command_id = int(oldest[0][0])
            with transaction(self._engine) as connection:
                taken = self._sql.run(
                    connection,
                    "UPDATE sys_command SET status='running', owner=?, claimed_at=?, heartbeat_at=?, "
                    f"expires_at={self._sql.now}+?, attempts=attempts+1, error=NULL, finished_at=NULL "
                    "WHERE id=? AND status='queued'",
                    (owner, now, now, self._lease, command_id),
                ).rowcount
                if taken == 1:
                    return self._get(connection, command_id)

    def beat(self, command: Command) -> bool:
        """Prolong the claim; False when it is no longer ours."""
        change = f"heartbeat_at=?, expires_at={self._sql.now}+?"
        return self._change(command, change, (_now(), self._lease))

    def cancel_requested(self, command: Command) -> bool:
        return self.get(command.id).cancel_requested

    def progress(self, command: Command, facts: Mapping[str, Any], *, run_id: str | None = None) -> bool:
        """Show how far the command is; False when it is no longer ours."""
        change = "result_json=?, run_id=COALESCE(?, run_id)"
        return self._change(command, change, (_json(facts), run_id))

    @tried_again
    def finish(
        self,
        command: Command,
        status: str,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
    ) -> bool:
        """Settle the command; False when the claim was lost meanwhile (the new owner settles it)."""
        if status not in FINISHED:
            raise InputError("status", f"{status!r} is none of {', '.join(FINISHED)}")
        with transaction(self._engine) as connection:
            ours = self._update(
                connection,
                command,
                "status=?, result_json=COALESCE(?, result_json), error=?, finished_at=?, expires_at=NULL",
                (status, None if result is None else _json(result), error, _now()),
            )
            if ours:
                self._ended(connection, command, status)
            return ours

    @tried_again
    def reap(self, *, owner: str | None = None) -> list[Command]:
        """Take back abandoned commands: claims that expired, or all of a dead `owner`. Queued again
        while attempts are left, else failed. Returns the commands as they are now."""
        condition, values = (f"expires_at < {self._sql.now}", ()) if owner is None else ("owner=?", (owner,))
        reaped: list[Command] = []
        with transaction(self._engine) as connection:
            for dead in self._select(connection, f"WHERE status='running' AND {condition}", values):
                change = "status='queued', owner=NULL, expires_at=NULL"
                facts: tuple[str, ...] = ()
                if dead.cancel_requested or dead.attempts >= dead.max_attempts:
                    change = "status=?, error=?, finished_at=?, expires_at=NULL"
                    status = "canceled" if dead.cancel_requested else "failed"
                    facts = (status, DIED_AT_WORK, _now())
                if self._update(connection, dead, change, facts, lease=f"AND {condition}", more=values):
                    left = self._get(connection, dead.id)
                    reaped.append(left)
                    if left.finished:
                        self._ended(connection, left, left.status)
        return reaped

    def give_back(self, command: Command) -> bool:
        """Queue a command again whose owner shuts down before its end; the attempt does not count."""
        return self._change(command, "status='queued', owner=NULL, expires_at=NULL, attempts=attempts-1", ())

    # -- inside -----------------------------------------------------------------------------------

    def _ended(self, connection: Connection, command: Command, status: str) -> None:
        """A backfill that Dagster was not asked for ends with its command, in the same transaction."""
        backfill_id = command.args.get("backfill_id")
        if command.command == BACKFILL and status != "success" and isinstance(backfill_id, str):
            row = {"status": status, "finished_at": _now(), "updated_at": _now()}
            not_launched = [ANY.status.in_(("queued", "running")), ANY.dagster_backfill_id.is_(None)]
            connection.execute(update("sys_backfill", row, ANY.backfill_id == backfill_id, *not_launched))

    @tried_again
    def _change(self, command: Command, change: str, values: tuple[object, ...]) -> bool:
        with transaction(self._engine) as connection:
            return self._update(connection, command, change, values)

    def _update(
        self,
        connection: Connection,
        command: Command,
        change: str,
        values: tuple[object, ...],
        *,
        lease: str = "",
        more: tuple[object, ...] = (),
    ) -> bool:
        # The attempt is the claim's token: an owner that was reaped and claimed again is another claim.
        where = f"WHERE id=? AND status='running' AND owner=? AND attempts=? {lease}"
        changed = self._sql.run(
            connection, f"UPDATE sys_command SET {change} {where}", (*values, *held(command), *more)
        )
        return changed.rowcount == 1

    def _get(self, connection: Connection, command_id: int) -> Command:
        found = self._select(connection, "WHERE id=?", (command_id,))
        if not found:
            raise NotFound(f"no command {command_id}")
        return found[0]
