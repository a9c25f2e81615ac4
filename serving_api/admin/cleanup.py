"""/datamgr/cleanup: admin, enveloped."""

from typing import Annotated, Any, Literal

from fastapi import Body
from pydantic import BaseModel, Field, StrictBool, StrictInt

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from resources.warehouse.retention import LEAST_DAYS, MOST_DAYS, Retention, cutoff
from serving_api.admin.waiting import LATER, carried_out, failure
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop


class CleanupRequest(BaseModel):
    """`dry_run` counts the rows that would be deleted and deletes nothing."""

    model_config = example(extra="forbid", days=365, table="stg_quote_snapshot", dry_run=True)
    days: Annotated[
        StrictInt,
        Field(ge=LEAST_DAYS, le=MOST_DAYS, description="days that are retained, counted back from today"),
    ] = 365
    table: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="a staged time series; absent = all of them"),
    ] = None
    dry_run: StrictBool = False


class Cleaned(BaseModel):
    status: Literal["success", "partial", "failed"]
    days: int
    cutoff: str = Field(description="first day that is retained")
    deleted: dict[str, int] = Field(description="rows by table; of a dry run, rows that would go")
    total: int
    dry_run: bool
    message: str


COMMAND = "cleanup"
ACCEPTED = "清理仍在后台执行，请稍后用 command_id 查询结果"


def _count(state: State, tables: tuple[Table, ...], before: str) -> dict[str, int]:
    warehouse = state.reading.warehouse
    retention = Retention(warehouse.engine, state.clock)
    return {table.name: retention.count(table, before) for table in tables if table.name in warehouse.tables}


router = area_router(f"{PREFIX}/datamgr/cleanup", "datamgr: maintenance")


@router.post("", response_model=Cleaned, responses=LATER)
async def cleanup(call: Admin, body: Annotated[CleanupRequest | None, Body()] = None) -> Answer:
    """Delete rows of staged time series older than `days`; fused, received and dimension tables are not
    touched."""
    state = call.state
    body = body or CleanupRequest()
    before = cutoff(state.clock.now().date(), body.days)
    registry = builtin_registry()
    tables = registry.staged_series() if body.table is None else (registry.cleaned(body.table),)
    if body.dry_run:
        deleted = await off_loop(_count, state, tables, before)
        total = sum(deleted.values())
        message = f"{total} rows are older than {before}; nothing was deleted"
        counted = {"deleted": deleted, "total": total, "dry_run": True, "status": "success"}
        return Answer({"days": body.days, "cutoff": before, **counted, "message": message})
    args = {"days": body.days, "tables": [] if body.table is None else [body.table]}
    command = await carried_out(state, COMMAND, args, call.member.username, meanwhile=ACCEPTED)
    why = failure(command)
    if why is not None:
        nothing: dict[str, Any] = {"status": "failed", "deleted": {}, "total": 0, "message": why}
        return Answer({"days": body.days, "cutoff": before, "dry_run": False, **nothing})
    return Answer(Cleaned.model_validate({**command.result, "dry_run": False}))
