"""The task table and its runs, read from the ledgers. Reads need no worker and no Dagster."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from core.calendar import CalendarHorizon, TradeCalendar
from resources.warehouse.ledger.heartbeats import FRESH, WORKERS, Heartbeats, last_tick
from resources.warehouse.ledger.scheduled_run_reads import DONE, ScheduledRunReads, ScheduledRunRow
from resources.warehouse.ledger.tasks import Task
from resources.warehouse.ledger.tasks_state import TaskState, TaskTable
from resources.warehouse.ledger.watch_list import off_on_a_watch_list
from resources.warehouse.locks import DomainLocks, LockState
from serving_api.admin.schedule.schemas import TaskItem, TaskRun
from serving_api.admin.shared import parse_day
from serving_api.framework.envelope import instant
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

TICK_S = 30
AHEAD_DAYS = 20
"""Days to look ahead: longer than the longest closure of the exchange, so that every task has a next run."""
MAX_SLOTS = 1000
_SHANGHAI = timedelta(hours=8)


# -- the table --------------------------------------------------------------------------------------


def tasks(state: State) -> list[TaskItem]:
    """Every task with its settings in force, in the declared order. Blocks."""
    engine = state.reading.warehouse.engine
    slots = ScheduledRunReads(engine)
    latest = slots.latest()
    running = {row.task_key for row in slots.runs(status="running", limit=MAX_SLOTS)[0]}
    return [
        _task(task_state, latest.get(task_state.key), task_state.key in running, state)
        for task_state in TaskTable(engine).all()
    ]


def _task(task_state: TaskState, last: ScheduledRunRow | None, running: bool, state: State) -> TaskItem:
    task = task_state.task
    return TaskItem.model_validate({
        "key": task.key, "name": task.name, "tradingDayOnly": task.trading_day_only, "dependsOn": task.after,
        "maxRetries": task.max_retries, "retryDelaySec": task.retry_delay_s, "note": task.note,
        "triggerHm": task.timing.hm, "time": task.timing.text, "cron": task.timing.cron,
        "enabled": task_state.enabled, "running": running, "lastStatus": last.status if last else None,
        "lastRunAt": instant(last.started_at or last.slot_at) if last else None,
        "nextRunAt": instant(next_run(task_state, state)),
    })  # fmt: skip


def next_run(task_state: TaskState, state: State) -> datetime | None:
    """The next scheduled run by the market clock; None when the task or the scheduler is switched off."""
    settings = state.settings
    if not (task_state.enabled and settings.enable_scheduler) or settings.keeps_off(task_state.key):
        return None
    if off_on_a_watch_list(state.reading.warehouse.engine, task_state.task):
        return None
    due = task_state.task.timing.following(state.clock.now(), AHEAD_DAYS)
    return next((time for time in due if _runs_on(task_state.task, time, state.calendar)), None)


def _runs_on(task: Task, time: datetime, calendar: TradeCalendar) -> bool:
    if not task.trading_day_only:
        return True
    try:
        return calendar.is_trade_date(time.date().isoformat())
    except CalendarHorizon:
        return False


# -- what happens now -------------------------------------------------------------------------------


def status(state: State) -> dict[str, Any]:
    """Heartbeat, locks, running tasks, and the counts of the day. Blocks."""
    now, engine = state.clock.now(), state.reading.warehouse.engine
    slots, nodes = ScheduledRunReads(engine), Heartbeats(engine).all()
    today, _ = slots.runs(day=now.date().isoformat(), limit=MAX_SLOTS)
    node = next((node for node in nodes if node.role in WORKERS), None)
    fresh = node is not None and state.system.local() - node.beat_at <= FRESH
    reported = node.state if node is not None else {}
    return {
        "running": fresh and state.settings.enable_scheduler and bool(reported.get("scheduler", True)),
        "role": state.settings.role,
        "tickSeconds": TICK_S,
        "lastTickAt": instant(last_tick(nodes)),
        "heartbeat": {
            "nodeId": node.node_id if node else None,
            "beatAt": instant(node.beat_at) if node else None,
            "fresh": fresh,
        },
        "locks": {lock.domain: lock_view(lock) for lock in DomainLocks(engine).states()},
        "runningTasks": [
            {"key": row.task_key, "startedAt": instant(row.started_at), "runId": row.run_id}
            for row in slots.runs(status="running", limit=MAX_SLOTS)[0]
        ],
        "today": _today(today, TaskTable(engine).all(), now, state.calendar),
    }


def lock_view(lock: LockState) -> dict[str, Any]:
    since = None
    if lock.held and lock.since is not None:
        since = datetime.fromtimestamp(lock.since, UTC).replace(tzinfo=None) + _SHANGHAI
    return {"held": lock.held, "holder": lock.owner if lock.held else None, "since": instant(since)}


def _today(
    rows: Iterable[ScheduledRunRow], states: Sequence[TaskState], now: datetime, calendar: TradeCalendar
) -> dict[str, int]:
    """The counts of today's scheduled runs; runs that were started by hand are not counted."""
    keys = {task_state.key for task_state in states}
    known = {(row.task_key, row.slot): row.status for row in rows if row.task_key in keys}
    found = list(known.values())
    to_come = [
        due
        for task_state in states
        if task_state.enabled
        for due in task_state.task.timing.on(now.date())
        if due > now
        and _runs_on(task_state.task, due, calendar)
        and (task_state.key, task_state.task.scheduled_run(due).name) not in known
    ]
    return {
        "success": sum(status in DONE for status in found),
        "failed": found.count("failed"),
        "skipped": sum(status in {"skipped", "missed", "canceled"} for status in found),
        "pending": sum(status in {"queued", "running"} for status in found) + len(to_come),
    }


# -- runs -------------------------------------------------------------------------------------------


async def task_runs(
    state: State, *, key: str | None, status: str | None, date: str | None, limit: int, offset: int
) -> Mapping[str, Any]:
    """{runs[TaskRun] newest first, total}. `date` = trade date of the scheduled run, or its calendar day."""
    day = None if date is None else parse_day("date", date, state.today)
    slots = ScheduledRunReads(state.reading.warehouse.engine)
    rows, total = await off_loop(slots.runs, task_key=key, status=status, day=day, limit=limit, offset=offset)
    return {"runs": [TaskRun.model_validate(row, from_attributes=True) for row in rows], "total": total}
