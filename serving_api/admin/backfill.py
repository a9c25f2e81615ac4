"""/datamgr/backfill: admin, enveloped."""

import threading
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from core.declaration.registry import builtin_registry
from core.errors import ConflictError, InputError
from resources.warehouse.ledger.backfills import Backfill, Backfills
from resources.warehouse.ledger.commands import OPEN, Command, CommandQueue
from resources.warehouse.ledger.missing_partitions import table_of
from serving_api.admin.gaps import PlanRequest, Requested, requested_days
from serving_api.admin.shared import Limit50
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

BackfillStatus = Literal["queued", "running", "success", "partial", "failed", "canceling", "canceled"]
StoredStanding = Literal["queued", "running", "success", "partial", "failed", "canceled"]


class Started(BaseModel):
    status: Literal["accepted"]
    id: str
    command_id: int
    partitions: int
    message: str


class Resumed(BaseModel):
    status: Literal["accepted"]
    id: str
    command_id: int
    remaining: int


class Canceling(BaseModel):
    """`canceled` at once when nothing has begun; else the runs under way are ended."""

    id: str
    status: Literal["canceling", "canceled"]


class Progress(BaseModel):
    total: int
    done: int


class BackfillItem(BaseModel):
    id: str
    dataset: str
    since: str = Field(alias="from")
    until: str = Field(alias="to")
    status: BackfillStatus
    partitions: Progress
    started_at: str | None


class DetailedProgress(Progress):
    failed: int


class FailedDate(BaseModel):
    partition: str
    error: str


class BackfillDetail(BackfillItem):
    partitions: DetailedProgress
    rows_written: int = Field(description="rows of the main table that are new or changed")
    run_ids: list[str]
    failures: list[FailedDate]
    requested_by: str | None
    finished_at: str | None


COMMAND = "backfill"


class Turn:
    """The lock and recent requests of one app: two requests for one dataset do not both find it free."""

    def __init__(self, _state: State) -> None:
        self.lock = threading.Lock()


def start_backfill(state: State, turn: Turn, requested: Requested, by: str) -> tuple[Backfill, Command]:
    """Enter a backfill and ask the worker for it. ConflictError while the dataset has another one."""
    ledger, now = Backfills(state.writer.engine), state.clock.now()
    with turn.lock:
        _refuse_second(ledger, requested.dataset.name)
        made = ledger.create(
            requested.dataset.name, requested.since, requested.until, requested.chosen, by=by, now=now
        )
        return made, _enqueue(state, ledger, made, by)


def _enqueue(state: State, ledger: Backfills, one: Backfill, by: str) -> Command:
    """The lock of `Turn` holds within one process; across processes the queue decides which command is
    accepted. Entries that the queue did not accept are closed."""
    table = table_of(builtin_registry().dataset(one.dataset))
    args = {"backfill_id": one.id, "table": table}
    try:
        return CommandQueue(state.writer.engine).enqueue_alone(
            COMMAND, args, requested_by=by, about=table, same=lambda other: other.args.get("table") == table
        )
    except ConflictError:
        if _open_command(state, one.id) is None:  # else the accepted command continues this very backfill
            ledger.settle(one.id, "canceled", now=state.clock.now())
        raise


def _refuse_second(ledger: Backfills, dataset: str) -> None:
    for one in ledger.open(dataset):
        raise ConflictError(f"a backfill of {dataset} is {one.status} already: {one.id}")


def _open_command(state: State, backfill_id: str) -> Command | None:
    """The command that is to ask Dagster for a backfill."""
    commands = CommandQueue(state.writer.engine).of_name(COMMAND, statuses=OPEN)
    return next((one for one in commands if one.args.get("backfill_id") == backfill_id), None)


def _status(one: Backfill) -> str:
    return "canceling" if one.cancel_requested and not one.ended else one.status


def _list(state: State, status: str | None, limit: int) -> dict[str, Any]:
    found, total = Backfills(state.reading.warehouse.engine).recent(status=status, limit=limit)
    return {"items": [_item(one) for one in found], "total": total}


def _item(one: Backfill) -> dict[str, Any]:
    return {
        "id": one.id, "dataset": one.dataset, "from": one.since, "to": one.until,
        "status": _status(one), "partitions": {"total": len(one.days), "done": one.done},
        "started_at": instant(one.started_at),
    }  # fmt: skip


def backfill_detail(state: State, backfill_id: str) -> dict[str, Any]:
    """The model `BackfillDetail`. Raises NotFound."""
    one = Backfills(state.reading.warehouse.engine).get(backfill_id)
    return {
        **_item(one),
        "partitions": {"total": len(one.days), "done": one.done, "failed": one.failed},
        "rows_written": one.rows_written,
        "run_ids": one.run_ids,
        "requested_by": one.requested_by,
        "failures": [{"partition": day, "error": why} for day, why in sorted(one.failures.items())],
        "finished_at": instant(one.finished_at),
    }


def _cancel(state: State, backfill_id: str) -> dict[str, Any]:
    ledger, now = Backfills(state.writer.engine), state.clock.now()
    one = ledger.get(backfill_id)
    if one.ended:
        raise ConflictError(f"the backfill has ended ({one.status})")
    command = _open_command(state, backfill_id)
    if command is None and one.dagster_id is None:
        ledger.settle(backfill_id, "canceled", now=now)
    elif command is None or CommandQueue(state.writer.engine).cancel(command.id).status != "canceled":
        ledger.request_cancel(backfill_id, now=now)
        return {"id": backfill_id, "status": "canceling"}
    return {"id": backfill_id, "status": "canceled"}


def _resume(state: State, turn: Turn, backfill_id: str, by: str) -> dict[str, Any]:
    ledger = Backfills(state.writer.engine)
    with turn.lock:
        one = ledger.get(backfill_id)
        if one.status not in {"partial", "failed", "canceled"}:
            raise ConflictError(f"the backfill is {_status(one)}; there is nothing to resume")
        _refuse_second(ledger, one.dataset)
        ledger.reopen(backfill_id, now=state.clock.now())
        command = _enqueue(state, ledger, one, by)
    remaining = len(one.days) - one.done
    return {"status": "accepted", "id": one.id, "command_id": command.id, "remaining": remaining}


router = area_router(f"{PREFIX}/datamgr/backfill", "datamgr: gaps")

BackfillId = Annotated[str, Path(max_length=32, description="id from the 202 answer")]


@router.post("", response_model=Started, status_code=202)
@serves(raises=(404, 409))
async def start(call: Admin, body: PlanRequest) -> Answer:
    """Load the trade dates that the plan of the same body counts, in the background."""
    state = call.state
    requested = await requested_days(state, body)
    if not requested.chosen:
        raise InputError(
            "only_missing", f"every trade date from {requested.since} to {requested.until} is loaded already"
        )
    made, command = await off_loop(start_backfill, state, state.part(Turn), requested, call.member.username)
    count = len(made.days)
    accepted = {"status": "accepted", "id": made.id, "command_id": command.id, "partitions": count}
    message = f"已接受 {made.dataset} 的 {count} 个交易日"
    return Answer({**accepted, "message": message}, status_code=202)


@router.get("", response_model=list[BackfillItem])
@serves(top=[("total", int)], cache=NO_STORE)
async def backfills(
    call: Admin,
    status: Annotated[StoredStanding | None, Query(description="only backfills with this status")] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Backfills, newest first."""
    return Answer(await off_loop(_list, call.state, status, limit))


@router.get("/{backfill_id}", response_model=BackfillDetail)
@serves(raises=(404,), cache=NO_STORE)
async def backfill(call: Admin, backfill_id: BackfillId) -> Answer:
    """One backfill and its progress."""
    return Answer(await off_loop(backfill_detail, call.state, backfill_id))


@router.post("/{backfill_id}/cancel", response_model=Canceling)
@serves(raises=(404, 409))
async def cancel(call: Admin, backfill_id: BackfillId) -> Answer:
    """End the runs under way; what is loaded stays."""
    return Answer(await off_loop(_cancel, call.state, backfill_id))


@router.post("/{backfill_id}/resume", response_model=Resumed, status_code=202)
@serves(raises=(404, 409))
async def resume(call: Admin, backfill_id: BackfillId) -> Answer:
    """Continue with the trade dates that are not loaded."""
    return Answer(
        await off_loop(_resume, call.state, call.state.part(Turn), backfill_id, call.member.username),
        status_code=202,
    )
