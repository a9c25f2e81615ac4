"""The task table in the database: what the scheduler side declared, and what was changed since.

The declaration is published by the process that migrates the warehouse, so that a reader without Dagster (the
API) shows the same tasks as the scheduler runs. `enabled` mirrors the switch of the native schedule.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection

from core.clock import stamp
from core.errors import InputError, NotFound, PlatformError
from resources.warehouse.engine import reading, transaction
from resources.warehouse.ledger.tasks import Early, Task, early_tasks
from resources.warehouse.sql import Ledger
from resources.warehouse.stored import ANY, delete, update

_COLUMNS = "task_key, declared_json, trigger_hm, enabled, changed_by, changed_at"


@dataclass(frozen=True)
class TaskState:
    """A task as it is in force: `task` carries the changed time, `declared` the one of the code."""

    declared: Task
    task: Task
    enabled: bool = True
    changed_by: str | None = None
    changed_at: datetime | None = None

    @property
    def key(self) -> str:
        return self.declared.key

    def next_run(self, now: datetime, is_trade_date: Callable[[str], bool]) -> datetime | None:
        """The next due time after market time `now`; None for a task that is switched off, has no time, or
        is not due within the days that `is_trade_date` knows (it may raise PlatformError beyond)."""
        if not self.enabled:
            return None
        for due in self.task.timing.following(now, days=20):
            try:
                if not self.task.trading_day_only or is_trade_date(due.date().isoformat()):
                    return due
            except PlatformError:
                return None
        return None

    @classmethod
    def of(cls, task: Task) -> "TaskState":
        """A declared task as it is before any change."""
        return cls(declared=task, task=task)


def _state(row: tuple[object, ...]) -> TaskState:
    declared = Task.from_facts(json.loads(str(row[1])))
    hm = None if row[2] is None else int(str(row[2]))
    moved = declared.moved(hm) if declared.timing.movable else declared
    return TaskState(
        declared=declared,
        task=moved,
        enabled=row[3] is None or bool(row[3]),
        changed_by=None if row[4] is None else str(row[4]),
        changed_at=None if row[5] is None else datetime.fromisoformat(str(row[5])),
    )


class TaskTable(Ledger):
    """Reads and changes `sys_task`."""

    def publish(self, tasks: Collection[Task]) -> None:
        """Bring the stored declarations up to `tasks`; changed times and switches of tasks that still exist
        stay. Idempotent."""
        with transaction(self._engine) as connection:
            stored = {
                str(row[0]): (row[1], str(row[2]))
                for row in connection.exec_driver_sql(
                    "SELECT task_key, position, declared_json FROM sys_task"
                )
            }
            for position, task in enumerate(tasks):
                text = json.dumps(task.facts(), ensure_ascii=False, sort_keys=True)
                if task.key not in stored:
                    row = {"task_key": task.key, "position": position, "declared_json": text, "enabled": 1}
                    self._sql.put(connection, "sys_task", row)
                elif stored[task.key] != (position, text):
                    row = {"position": position, "declared_json": text}
                    connection.execute(update("sys_task", row, ANY.task_key == task.key))
            for key in stored.keys() - {task.key for task in tasks}:
                connection.execute(delete("sys_task", ANY.task_key == key))

    def all(self) -> list[TaskState]:
        """Every published task, in the declared order."""
        where = "WHERE declared_json IS NOT NULL ORDER BY position"
        return [_state(tuple(row)) for row in self._sql.rows(f"SELECT {_COLUMNS} FROM sys_task {where}")]

    def get(self, key: str) -> TaskState:
        """One task; NotFound when the table has no such key."""
        with reading(self._engine) as connection:
            return self._get(connection, key)

    def _get(self, connection: Connection, key: str) -> TaskState:
        row = self._sql.run(connection, f"SELECT {_COLUMNS} FROM sys_task WHERE task_key=?", (key,)).first()
        if row is None or row[1] is None:
            raise NotFound(f"no task {key!r}")
        return _state(tuple(row))

    def retime(self, key: str, hm: int, *, by: str, now: datetime) -> TaskState:
        """Move a task to another time of day (HHMM). A time that stays the same changes nothing. NotFound
        for an unknown key, InputError for a wrong time or a task without a time of day, and for a time that
        a task would have to run at without what it requires."""
        self.early(key, hm)
        with transaction(self._engine) as connection:
            before = self._get(connection, key)
            moved = before.declared.moved(hm)
            if moved.timing == before.task.timing:
                return before
            stored = None if moved.timing == before.declared.timing else hm
            return self._set(connection, key, {"trigger_hm": stored}, by, now)

    def early(self, key: str, hm: int) -> list[Early]:
        """The tasks that would be due before what they wait for if `key` moved to `hm`, as far as that
        concerns it. InputError where one of them does not run without it."""
        tasks = [one.declared.moved(hm) if one.key == key else one.task for one in self.all()]
        found = [one for one in early_tasks(tasks) if key in (one.task.key, one.before.key)]
        for one in found:
            if one.task.after_required:
                raise InputError("triggerHm", f"{one.text} and does not run without")
        return found

    def mirror_enabled(self, key: str, enabled: bool, *, by: str, now: datetime) -> TaskState:
        """Record the state of the native schedule's switch; the same state again changes nothing."""
        with transaction(self._engine) as connection:
            before = self._get(connection, key)
            if before.enabled == enabled:
                return before
            return self._set(connection, key, {"enabled": int(enabled)}, by, now)

    def _set(
        self, connection: Connection, key: str, change: dict[str, Any], by: str, now: datetime
    ) -> TaskState:
        changes = {**change, "changed_by": by, "changed_at": stamp(now)}
        connection.execute(update("sys_task", changes, ANY.task_key == key))
        return self._get(connection, key)
