"""Single syncs: /datamgr/block/sync and two of the fused layer; admin, enveloped."""

from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, Field

from resources.orchestrator import CODES_TAG
from resources.warehouse.ledger.commands import Command
from resources.warehouse.stored import ANY, Where, select
from serving_api.admin.schedule.control import RUN_JOB
from serving_api.admin.waiting import LATER, carried_out, failure
from serving_api.db.batches import BATCHES, NO_PARENT
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State

Status = Literal["success", "failed"]


class BlockKinds(BaseModel):
    """Members by kind of block: index, concept, style."""

    zs: int
    gn: int
    fg: int


class BlocksSynced(BaseModel):
    status: Status
    total: int = Field(description="members of all blocks")
    saved: int = Field(description="rows that are new or changed")
    message: str
    byType: BlockKinds


class IndexSynced(BaseModel):
    status: Status
    total: int = Field(description="bars that were fetched and accepted")
    saved: int = Field(description="bars that are new or changed")
    warning: str | None
    scope: str = Field(description="trade dates, from..to")


class Saved(BaseModel):
    saved: int = Field(description="bars that are new or changed")


class Periods(BaseModel):
    week: Saved
    month: Saved
    quarter: Saved
    year: Saved


class BarsSynced(BaseModel):
    status: Status
    code: str
    total: int = Field(description="bars that were fetched and accepted")
    periods: Periods
    warning: str | None


@dataclass(frozen=True)
class Written:
    """The batches of one run in one table, summed."""

    accepted: int = 0
    written: int = 0
    warnings: int = 0
    rejected: int = 0


def written(session: Session, run_id: str, table: str) -> Written:
    """Sums over the batches of a run; the parent batch of a range repeats its children and is left out."""
    c = BATCHES.c
    sums = (c.rows_ok + c.rows_warning, c.rows_written, c.rows_warning, c.rows_rejected)
    of = [c.run_id == run_id, c.table_name == table, c.status.in_(("success", "partial")), NO_PARENT]
    (row,) = session.run(select(BATCHES, *(sa.func.coalesce(sa.func.sum(one), 0) for one in sums)).where(*of))
    return Written(*(int(value) for value in row))


def _counts(session: Session, column: str, table: str, *where: Where) -> dict[str, int]:
    """Rows by the values of a column."""
    rows = session.run(select(table, ANY[column], sa.func.count()).where(*where).group_by(ANY[column]))
    return {str(kind): int(count) for kind, count in rows}


def newest_index_date(session: Session) -> str | None:
    return session.first("fusion_index_daily", "date", order=[ANY.date.desc()])


MEMBERS, BAR = "raw_block_member", "fusion_kline_bar"
BLOCKS = "block_sync"
INDICES = "index_daily_sync"
BARS = "kline_bar_sync"
KINDS = ("zs", "gn", "fg")
"""Kinds of blocks; the industries that are loaded together with them are not blocks of the terminal."""
PERIODS = ("week", "month", "quarter", "year")
FIRST_DATES = 240
"""Trade dates that the first sync of the indices loads."""
AGAIN_DATES = 5
"""Newest trade dates that every sync requests again, for late corrections."""
ACCEPTED = "同步仍在后台执行，请稍后用 command_id 查询结果"


async def _run(state: State, job: str, by: str, **how: Any) -> Command:
    """The finished run. Raises StorageError."""
    args = {"job": job, "trigger": "api", **how}
    return await carried_out(state, RUN_JOB, args, by, meanwhile=ACCEPTED)


async def _written(state: State, command: Command, table: str) -> Written:
    if command.run_id is None:
        return Written()
    return await state.reading.scan(written, command.run_id, table)


async def _wrote(state: State, command: Command, column: str, table: str, *also: Where) -> dict[str, int]:
    """Rows that a run wrote, by the values of a column."""
    if command.run_id is None:
        return {}
    c = BATCHES.c
    of_run = ANY.batch_id.in_(select(BATCHES, c.batch_id).where(c.run_id == command.run_id))
    return await state.reading.scan(_counts, column, table, *also, of_run)


def _warning(command: Command, found: Written) -> str | None:
    """The error when it failed, else the warnings of the checks."""
    why = failure(command)
    if why is not None:
        return why
    reported = [(found.warnings, "rows with a warning"), (found.rejected, "rows rejected")]
    return "; ".join(f"{count} {what}" for count, what in reported if count) or None


router = area_router(f"{PREFIX}/datamgr", "datamgr: syncs")


@router.post("/block/sync", response_model=BlocksSynced, responses=LATER)
async def blocks(call: Admin) -> Answer:
    """Fetch the members of all blocks again; each kind of block is replaced as a whole."""
    state = call.state
    command = await _run(state, BLOCKS, call.member.username)
    why = failure(command)
    counts = await state.reading.scan(_counts, "block_type", MEMBERS) if why is None else {}
    changed = await _wrote(state, command, "block_type", MEMBERS)
    saved = sum(changed.get(kind, 0) for kind in KINDS)
    total = sum(counts.get(kind, 0) for kind in KINDS)
    return Answer(
        {
            "status": "success" if why is None else "failed",
            "total": total,
            "saved": saved,
            "message": why or f"板块成分已同步：{total} 条，新增或变更 {saved} 条",
            "byType": {kind: counts.get(kind, 0) for kind in KINDS},
        }
    )


@router.post("/fusion/index/daily/sync", response_model=IndexSynced, responses=LATER)
async def indices(call: Admin) -> Answer:
    """Fetch the index bars of the newest trade dates and of missing ones before them."""
    state = call.state
    calendar = state.calendar
    until = calendar.newest_complete(state.clock.now())
    newest = await state.reading.scan(newest_index_date)
    since = calendar.last(FIRST_DATES if newest is None else AGAIN_DATES, until)[0]
    if newest is not None and newest < since:
        since = max(newest, calendar.last(FIRST_DATES, until)[0])
    command = await _run(state, INDICES, call.member.username, partition_range=[since, until])
    found = await _written(state, command, "fusion_index_daily")
    return Answer(
        {
            "status": "success" if failure(command) is None else "failed",
            "total": found.accepted,
            "saved": found.written,
            "warning": _warning(command, found),
            "scope": f"{since}..{until}",
        }
    )


@router.post("/fusion/stock/{code}/kline-bar/sync", response_model=BarsSynced, responses=LATER)
async def bars(call: Admin, code: StockCode) -> Answer:
    """Fetch about 240 week and month bars of a code; quarters and years are derived from the months."""
    state = call.state
    command = await _run(state, BARS, call.member.username, tags={CODES_TAG: code})
    found = await _written(state, command, BAR)
    saved = await _wrote(state, command, "period", BAR, ANY.code == code)
    failed = failure(command) is not None
    empty = not failed and not found.accepted
    return Answer(
        {
            "status": "failed" if failed or empty else "success",
            "code": code,
            "total": found.accepted,
            "periods": {period: {"saved": saved.get(period, 0)} for period in PERIODS},
            "warning": f"no source has bars of {code}" if empty else _warning(command, found),
        }
    )
