"""/datamgr/schedule, and the runs of the tasks at /tasks/runs (plain) and its alias."""

from typing import Annotated

from fastapi import Path, Query
from starlette.requests import Request

from serving_api.admin.schedule import schemas, service
from serving_api.admin.schedule.control import Control
from serving_api.admin.shared import MAX_ID, Limit50
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of

router = area_router(f"{PREFIX}/datamgr/schedule", "datamgr: schedule")
runs_router = area_router(f"{PREFIX}/tasks", "datamgr: schedule")
alias_router = area_router(f"{PREFIX}/datamgr/tasks", "datamgr: schedule")

TaskKey = Annotated[str, Path(max_length=64, description="task key", examples=["fusion_kline_sync"])]


@router.get("")
@serving(list[schemas.TaskItem])
async def schedule(request: Request, subject: Admin) -> Answer:
    """Every scheduled task with its settings in force."""
    return Answer(await service.tasks(state_of(request)))


@router.get("/status")
@serving(schemas.SchedulerStatus)
async def status(request: Request, subject: Admin) -> Answer:
    """Heartbeat, locks, running tasks and the count of today's scheduled runs."""
    return Answer(await service.status(state_of(request)))


@router.post("/{key}/run")
@serving(schemas.RunAccepted, cache=NO_STORE, raises=(404, 409))
async def run(
    request: Request, subject: Admin, key: TaskKey, body: schemas.TaskRunRequest | None = None
) -> Answer:
    """Start a task now, for its newest complete trade date or the one given."""
    control = state_of(request).part(Control)
    return Answer(await control.run(key, body or schemas.TaskRunRequest(), subject.member.username))


@router.put("/{key}")
@serving(schemas.TaskChanged, cache=NO_STORE, raises=(404,))
async def change(request: Request, subject: Admin, key: TaskKey, body: schemas.TaskChange) -> Answer:
    """Switch a task on or off, or change its time; in force within 30 s."""
    control = state_of(request).part(Control)
    return Answer(await control.change(key, body, subject.member.username))


@runs_router.get("/runs")
@alias_router.get("/runs")
@serving(schemas.TaskRuns)
async def task_runs(
    request: Request,
    subject: Admin,
    key: Annotated[str | None, Query(max_length=64, description="only this task")] = None,
    status: Annotated[
        schemas.RunStatus | None, Query(description="only scheduled runs with this status")
    ] = None,
    date: Annotated[str | None, Query(description="trade date, or day of the scheduled run")] = None,
    limit: Limit50 = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_ID, description="scheduled runs to skip")] = 0,
) -> Answer:
    """The scheduled runs of all tasks, newest first; one that did not run says why."""
    found = await service.task_runs(
        state_of(request), key=key, status=status, date=date, limit=limit, offset=offset
    )
    return Answer(found)
