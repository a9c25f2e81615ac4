"""The task table as native schedules, and the sensor beside them.

A schedule fires its run at its time; the sensor fires what is left: runs that waited, were missed, were moved
or failed. Both claim the run in the ledger first, so exactly one of them asks Dagster for it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
from dagster import DagsterInstance

from core.calendar import TradeCalendar
from core.errors import StorageError
from platform_assets.definitions.jobs import BASEINFO, SAMPLE
from platform_assets.task_table import TASKS
from resources import tracing
from resources.orchestrator import RANGE_END, RANGE_START
from resources.warehouse.ledger.heartbeats import SCHEDULER, this_node
from resources.warehouse.ledger.tasks import Task
from resources.warehouse.ledger.tasks_state import TaskState
from schedules import run_tags
from schedules.runs.records import DagsterRuns
from schedules.services import Services, open_services
from schedules.tasks.missing_dates_sensor import gap_sensor
from schedules.tasks.readiness import Act, judge
from schedules.tasks.reconciliation import Cursor, Reconciler, Request, done_for, leave
from schedules.tasks.session_sensors import Job, OpenServices, baseinfo_sensor, warmup_sensor
from schedules.tasks.trigger_times import moved_tasks

ZONE = "Asia/Shanghai"
SENSOR = "task_table"
"""Role and id of the heartbeat that each tick of the sensor leaves: the scheduler's last tick."""
TICK_S = 30

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scheduling:
    """What goes into `Definitions`."""

    schedules: Sequence[dg.ScheduleDefinition]
    sensors: Sequence[dg.SensorDefinition]


def in_force(tasks: Sequence[Task], services: Services) -> list[TaskState]:
    """The tasks with the times that the database holds; as declared when it has no table yet."""
    try:
        stored = {state.key: state for state in services.tasks.all()} if services.migrated else {}
    except StorageError as error:
        log.warning("task table not readable, declared times are used: %s", error.message)
        stored = {}
    return [stored.get(task.key, TaskState.of(task)) for task in tasks]


def build_schedules(
    jobs: Mapping[str, Job],
    *,
    tasks: Sequence[Task] = TASKS,
    services: OpenServices = open_services,
    times: Mapping[str, int] | None = None,
) -> Scheduling:
    """One schedule per task with a time (named by its key, default on) and the sensor `task_table`.
    `jobs` holds one job per task, by its key; a task without a job is a KeyError at load. `times`: changed
    times of day (HHMM) by task key. Nothing is opened before the first tick."""
    timed = [state for state in moved_tasks(tasks, times or {}) if state.task.timing.timed]
    served = {state.key: state.task.timing.hm for state in timed}
    return Scheduling(
        schedules=[_schedule(state, jobs[state.key], services) for state in timed],
        sensors=[
            *([_sensor([jobs[state.key] for state in timed], tasks, served, services)] if timed else []),
            gap_sensor(services, _idle),
            *([warmup_sensor(jobs[SAMPLE], services, _idle)] if SAMPLE in jobs else []),
            *([baseinfo_sensor(jobs[BASEINFO], services, _idle)] if BASEINFO in jobs else []),
        ],
    )


def _idle(services: Services) -> str | None:
    """Why nothing is scheduled at all; None when the scheduler works."""
    idle = services.settings.why_idle(services.clock)
    if idle is None and not services.migrated:
        return "the warehouse has no tables yet (python -m schedules.supervisor.migrate)"
    return idle


def _schedule(served: TaskState, job: Job, services: OpenServices) -> dg.ScheduleDefinition:
    task = served.task

    def evaluate(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        tick = _local(context.scheduled_execution_time)
        return evaluate_tick(services(), served.declared, tick)

    return dg.ScheduleDefinition(
        name=task.key,
        job=job,
        cron_schedule=str(task.timing.cron),
        execution_timezone=ZONE,
        execution_fn=evaluate,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"{task.name}. {task.note}".strip(),
    )


def evaluate_tick(services: Services, declared: Task, tick: datetime) -> dg.RunRequest | dg.SkipReason:
    """The body of a schedule at a tick (naive local time): claim the run and ask for it, or say
    why not; what waits is left to the sensor."""
    idle = _idle(services)
    if idle is not None:
        return dg.SkipReason(idle)
    state = in_force([declared], services)[0]
    task = state.task
    if tick not in task.timing.on(tick.date()):
        return dg.SkipReason(_not_due(task, tick))
    scheduled = task.scheduled_run(tick)
    # The schedule ticks, so its switch is on, whatever the mirror of the switch still says.
    verdict = judge(
        state,
        scheduled,
        now=max(services.clock.now(), tick),
        calendar=services.calendar,
        done=done_for(task, services.scheduled_runs),
        enabled=True,
        off=services.keeps_off(task),
    )
    if verdict.act is not Act.FIRE or verdict.trade_date is None:
        leave(services.scheduled_runs, scheduled, verdict)
        return dg.SkipReason(verdict.reason)
    claimed = services.scheduled_runs.claim(
        scheduled,
        f"tick:{tick:%Y-%m-%dT%H:%M}",
        trade_date=verdict.trade_date,
        trigger=verdict.trigger,
        reason=verdict.reason,
    )
    if not claimed:
        return dg.SkipReason(f"{scheduled.name} has been claimed or has run already")
    request = Request(state, scheduled, verdict.trade_date, verdict.trigger, 1, verdict.reason)
    return _run_request(request, owner="schedule", calendar=services.calendar)


def _not_due(task: Task, tick: datetime) -> str:
    """Why the task is not due at a tick of the served cron line."""
    if task.timing.hm is None:
        return f"{tick:%H:%M} lies outside the hours of {task.key}"
    return f"moved to {task.timing.text}; this is the tick of {tick:%H:%M}"


def _run_request(request: Request, *, owner: str, calendar: TradeCalendar) -> dg.RunRequest:
    """The request for a scheduled run: of its trade date, or of the newest dates up to it."""
    task = request.state.task
    several = task.partitioned and task.dates > 1
    carried = run_tags.scheduled_run_tags(
        request.scheduled,
        trade_date=request.trade_date,
        trigger=request.trigger,
        attempt=request.attempt,
        owner=owner,
        warning=request.warning,
    )
    with tracing.span(
        f"scheduled run {task.key}",
        attributes={"ashare.scheduled_run": request.scheduled.name, "ashare.attempt": request.attempt},
    ):
        carried |= tracing.run_tags()
    if several:
        first = calendar.last(task.dates, request.trade_date)[0]
        carried |= {RANGE_START: first, RANGE_END: request.trade_date}
    return dg.RunRequest(
        run_key=run_tags.run_key(request.scheduled, request.attempt),
        job_name=task.key if owner == "sensor" else None,
        partition_key=request.trade_date if task.partitioned and not several else None,
        tags=carried,
    )


def _sensor(
    jobs: Sequence[Job], tasks: Sequence[Task], served: Mapping[str, int | None], services: OpenServices
) -> dg.SensorDefinition:
    def evaluate(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        opened = services()
        if opened.migrated:
            opened.heartbeats.beat(replace(this_node(SCHEDULER), node_id=SCHEDULER))
        idle = _idle(opened)
        if idle is not None:
            return dg.SkipReason(idle)
        now = opened.clock.now()
        mirror_switches(opened, context.instance, _location(context), now)
        cursor = Cursor.read(context.cursor, now)
        states = in_force(tasks, opened)
        found = Reconciler(opened, states, DagsterRuns(context.instance), served=served).reconcile(
            cursor, now
        )
        return dg.SensorResult(
            run_requests=[
                _run_request(request, owner="sensor", calendar=opened.calendar) for request in found.requests
            ],
            skip_reason=None if found.requests else dg.SkipReason(found.summary),
            cursor=cursor.text(now),
        )

    return dg.SensorDefinition(
        name=SENSOR,
        jobs=list(jobs),
        evaluation_fn=evaluate,
        minimum_interval_seconds=TICK_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="fires runs that waited, were missed or moved, retries failed ones, settles ended ones",
    )


def mirror_switches(
    services: Services, instance: DagsterInstance, location: str | None, now: datetime
) -> None:
    """Copy the state of the native schedules' switches into `sys_task`, for readers without Dagster."""
    switched: dict[str, bool] = {}
    for state in instance.all_instigator_state():
        if state.instigator_type.name != "SCHEDULE":
            continue
        origin: Any = state.origin.repository_origin.code_location_origin
        if location is None or origin.location_name == location:
            switched[state.name] = state.is_running
    for task in services.tasks.all():
        enabled = switched.get(task.key, True)
        # Compared first: a tick that changes nothing opens no transaction.
        if task.task.timing.timed and task.enabled != enabled:
            services.tasks.mirror_enabled(task.key, enabled, by="switch", now=now)


def _location(context: dg.SensorEvaluationContext) -> str | None:
    origin = context.code_location_origin
    return None if origin is None else origin.location_name


def _local(moment: datetime) -> datetime:
    """A tick's time as naive local exchange time."""
    return moment.astimezone(ZoneInfo(ZONE)).replace(tzinfo=None)
