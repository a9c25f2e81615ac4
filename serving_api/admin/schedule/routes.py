"""/datamgr/schedule, and the runs of the tasks at /tasks/runs (plain) and its alias."""

from typing import Annotated

from fastapi import Path, Query

from serving_api.admin.schedule import schemas, service
from serving_api.admin.schedule.control import Control
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.threads import off_loop

router = area_router(f"{PREFIX}/datamgr/schedule", "datamgr: schedule")
runs_router = area_router(f"{PREFIX}/tasks", "datamgr: schedule")
alias_router = area_router(f"{PREFIX}/datamgr/tasks", "datamgr: schedule")

TaskKey = Annotated[str, Path(max_length=64, description="task key", examples=["fusion_kline_sync"])]


@router.get("", response_model=list[schemas.TaskItem])
async def schedule(call: Admin) -> Answer:
    """Every scheduled task with its settings in force."""
    return Answer(await off_loop(service.tasks, call.state))


@router.get("/status", response_model=schemas.SchedulerStatus)
async def status(call: Admin) -> Answer:
    """Heartbeat, locks, running tasks and the count of today's scheduled runs."""
    return Answer(await off_loop(service.status, call.state))


@router.post("/{key}/run", response_model=schemas.RunAccepted)
@serves(raises=(404, 409))
async def run(call: Admin, key: TaskKey, body: schemas.TaskRunRequest | None = None) -> Answer:
    """Start a task now, for its newest complete trade date or the one given."""
    control = call.state.part(Control)
    return Answer(await control.run(key, body or schemas.TaskRunRequest(), call.member.username))


@router.put("/{key}", response_model=schemas.TaskChanged)
@serves(raises=(404,))
async def change(call: Admin, key: TaskKey, body: schemas.TaskChange) -> Answer:
    """Switch a task on or off, or change its time; in force within 30 s."""
    control = call.state.part(Control)
    return Answer(await off_loop(control.change, key, body, call.member.username))


@runs_router.get("/runs", response_model=schemas.TaskRuns)
@alias_router.get("/runs", response_model=schemas.TaskRuns)
async def task_runs(
    call: Admin,
    key: Annotated[str | None, Query(max_length=64, description="only this task")] = None,
    status: Annotated[
        schemas.RunStatus | None, Query(description="only scheduled runs with this status")
    ] = None,
    date: Annotated[str | None, Query(description="trade date, or day of the scheduled run")] = None,
    limit: Limit50 = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_ID, description="scheduled runs to skip")] = 0,
) -> Answer:
    """The scheduled runs of all tasks, newest first; one that did not run says why."""
    found = await service.task_runs(call.state, key=key, status=status, date=date, limit=limit, offset=offset)
    return Answer(found)
