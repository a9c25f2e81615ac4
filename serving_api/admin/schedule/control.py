"""Changes to the schedule: a run by hand, the switch, the time.

A run is requested through the command queue. The switch is that of the native schedule, over GraphQL; the
time is a row of the task table, which the scheduler applies within 30 s.
"""

import threading
import time as seconds
from datetime import datetime
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from core.declaration.registry import builtin_registry
from core.declaration.trade_days import A_SHARES
from core.errors import ConflictError, InputError, NotFound, Unavailable
from resources.orchestrator import Orchestrator
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.ledger.scheduled_run_reads import ScheduledRunReads
from resources.warehouse.ledger.tasks import Early, Task
from resources.warehouse.ledger.tasks_state import TaskTable
from serving_api.admin.schedule.schemas import TaskChange, TaskRunRequest
from serving_api.admin.schedule.service import next_run
from serving_api.admin.shared import parse_day
from serving_api.framework.envelope import instant
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

RUN_JOB = "run_job"
START_WAIT_S = 2.0
"""Seconds that a response waits for the id of the run."""
_OPEN_SLOTS = 200


class Control:
    """The lock and recent requests of one app: two requests for one task do not both find it idle."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._asking = threading.Lock()

    # -- a run by hand ----------------------------------------------------------------------------

    async def run(self, key: str, body: TaskRunRequest, by: str) -> dict[str, Any]:
        """Request a run. Raises NotFound, InputError (date), ConflictError while the task is running."""
        command = await off_loop(self._ask, key, body, by)
        started = await off_loop(self._wait, command.id)
        failed = started.status == "failed"
        return {
            "status": "failed" if failed else "accepted",
            "key": key,
            "runId": started.run_id,
            "commandId": command.id,
            "message": (started.error or "") if failed else _reported(started),
        }

    def _ask(self, key: str, body: TaskRunRequest, by: str) -> Command:
        engine = self._state.reading.warehouse.engine
        now = self._state.clock.now()
        # An invalid date is reported before an unknown key, as on every route.
        day = None if body.date is None else parse_day("date", body.date, now.date().isoformat())
        task = TaskTable(engine).get(key).task
        args: dict[str, Any] = {"job": key, "trigger": "manual"}
        if task.partitioned:
            date = day_of_run(task, day, now, self._state.calendar)
            if task.dates > 1:
                args["partition_range"] = [self._state.calendar.last(task.dates, date)[0], date]
            else:
                args["partition_key"] = date
        with self._asking:
            queue = CommandQueue(self._state.writer.engine)
            if body.force:
                return queue.enqueue(RUN_JOB, args, requested_by=by)
            self._refuse_second(queue, key)
            # The lock holds within one process; across processes the queue decides which command is accepted.
            return queue.enqueue_alone(
                RUN_JOB, args, requested_by=by, about=key, same=lambda one: one.args.get("job") == key
            )

    def _refuse_second(self, queue: CommandQueue, key: str) -> None:
        slots = ScheduledRunReads(self._state.writer.engine)
        for status in ("running", "queued"):
            rows, _ = slots.runs(task_key=key, status=status, limit=_OPEN_SLOTS)
            claimed = next((row for row in rows if row.run_id or row.claimed_by), None)
            if claimed is not None:
                raise ConflictError(f"{key} is already running (slot {claimed.slot}, {claimed.status})")
        for command in queue.of_name(RUN_JOB, statuses=("queued", "running")):
            if command.args.get("job") == key:
                raise ConflictError(f"{key} was asked for already (command {command.id}, {command.status})")

    def _wait(self, command_id: int) -> Command:
        limit = min(START_WAIT_S, self._state.settings.command_wait_sec)
        queue = CommandQueue(self._state.reading.warehouse.engine)
        return queue.wait(
            command_id, limit, until=lambda item: item.run_id is not None, monotonic=seconds.monotonic
        )

    # -- switch and time --------------------------------------------------------------------------

    def change(self, key: str, change: TaskChange, by: str) -> dict[str, Any]:
        """Switch a task on or off, or change its time. Raises NotFound; InputError for a task without a time;
        Unavailable when Dagster, which owns the switch, does not answer: then nothing was changed. Blocks."""
        table = TaskTable(self._state.writer.engine)
        now = self._state.clock.now()
        current = table.get(key)
        if change.enabled is not None and not current.task.timing.timed:
            raise InputError("enabled", f"{key} has no time, so there is no schedule to switch")
        early: list[Early] = []
        if change.triggerHm is not None:
            current.declared.moved(change.triggerHm)
            early = table.early(key, change.triggerHm)
        if change.enabled is not None:
            self._switch(key, change.enabled)
            current = table.mirror_enabled(key, change.enabled, by=by, now=now)
        if change.triggerHm is not None:
            current = table.retime(key, change.triggerHm, by=by, now=now)
        return {
            "key": key,
            "enabled": current.enabled,
            "triggerHm": current.task.timing.hm,
            "nextRunAt": instant(next_run(current, self._state)),
            "message": "；".join(("已保存，30 秒内生效", *(_early(one) for one in early))),
        }

    def _switch(self, key: str, enabled: bool) -> None:
        try:
            Orchestrator.of(self._state.settings).switch(key, enabled)
        except NotFound as error:
            # The task exists; its schedule is not served while the code location loads.
            raise Unavailable(error.message) from error


def _early(one: Early) -> str:
    """The warning of a task that is due before what it waits for."""
    task, before = (f"{some.key}（{some.timing.text}）" for some in (one.task, one.before))
    return f"注意：{task}早于其前置任务 {before}，最多等待 {one.task.wait_minutes} 分钟后将直接运行"


def day_of_run(task: Task, requested: str | None, now: datetime, calendar: TradeCalendar) -> str:
    """The trade date of a run by hand: the requested one (a task that runs every day takes the trade date
    before a day without trading), else the newest day that is complete at `now`. Raises InputError for a
    date that is no trade date (a task that runs on trade dates only), and while its session goes on."""
    try:
        if requested is None:
            return calendar.newest_complete(now)
        nearest = calendar.on_or_before(requested)
    except CalendarHorizon as error:
        raise InputError("date", error.message) from None
    if nearest != requested and task.trading_day_only:
        raise InputError("date", f"{requested} is no trade day; the nearest earlier one is {nearest}")
    for table in builtin_registry().tables_of_task(task.key):
        days = builtin_registry().trade_days[table]
        if days.market is A_SHARES:  # a table of a later market is refused by itself
            days.refuse_unfinished((nearest,), now)
    return nearest


def _reported(command: Command) -> str:
    return "任务已启动" if command.run_id else "任务已排队，等待执行"
