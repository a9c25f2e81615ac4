"""Syncs of single datasets: each is a run of its own job, executed by the worker."""

from collections.abc import Mapping
from typing import Any

from resources.warehouse.ledger.commands import Command
from serving_api.admin.schedule.control import RUN_JOB
from serving_api.admin.waiting import carried_out, failure
from serving_api.datasets.sync import queries
from serving_api.framework.state import State

BLOCKS = "block_sync"
INDICES = "index_daily_sync"
BARS = "kline_bar_sync"
CODES_TAG = "app/codes"
"""Run tag: comma list of the codes that a run is limited to."""
KINDS = ("zs", "gn", "fg")
"""Kinds of blocks; the industries that are loaded together with them are not blocks of the terminal."""
PERIODS = ("week", "month", "quarter", "year")
FIRST_DATES = 240
"""Trade dates that the first sync of the indices loads."""
AGAIN_DATES = 5
"""Newest trade dates that every sync requests again, for late corrections."""
ACCEPTED = "同步仍在后台执行，请稍后用 command_id 查询结果"


async def _run(state: State, job: str, by: str, **how: Any) -> Command:
    """The finished run. Raises Accepted, StorageError."""
    args = {"job": job, "trigger": "api", **how}
    return await carried_out(state, RUN_JOB, args, by, meanwhile=ACCEPTED)


async def _written(state: State, command: Command, table: str) -> queries.Written:
    if command.run_id is None:
        return queries.Written()
    return await state.reading.scan(queries.written, command.run_id, table)


def _warning(command: Command, found: queries.Written) -> str | None:
    """The error when it failed, else the warnings of the checks."""
    why = failure(command)
    if why is not None:
        return why
    reported = [(found.warnings, "rows with a warning"), (found.rejected, "rows rejected")]
    return "; ".join(f"{count} {what}" for count, what in reported if count) or None


async def blocks(state: State, by: str) -> dict[str, Any]:
    """{status, total, saved, message, byType}; an empty response of the source replaces nothing.
    Industries come with the blocks, and are not counted here."""
    command = await _run(state, BLOCKS, by)
    why = failure(command)
    counts: Mapping[str, int] = {}
    changed: Mapping[str, int] = {}
    if why is None:
        counts = await state.reading.scan(queries.block_counts)
    if command.run_id is not None:
        changed = await state.reading.scan(queries.blocks_of_run, command.run_id)
    saved = sum(changed.get(kind, 0) for kind in KINDS)
    total = sum(counts.get(kind, 0) for kind in KINDS)
    return {
        "status": "success" if why is None else "failed",
        "total": total,
        "saved": saved,
        "message": why or f"板块成分已同步：{total} 条，新增或变更 {saved} 条",
        "byType": {kind: counts.get(kind, 0) for kind in KINDS},
    }


async def indices(state: State, by: str) -> dict[str, Any]:
    """{status, total, saved, warning, scope}: the newest trade dates again, and missing ones before them;
    a year at the first time."""
    calendar = state.calendar
    until = calendar.newest_complete(state.clock.now())
    newest = await state.reading.scan(queries.newest_index_date)
    since = calendar.last(FIRST_DATES if newest is None else AGAIN_DATES, until)[0]
    if newest is not None and newest < since:
        since = max(newest, calendar.last(FIRST_DATES, until)[0])
    command = await _run(state, INDICES, by, partition_range=[since, until])
    found = await _written(state, command, "fusion_index_daily")
    return {
        "status": "success" if failure(command) is None else "failed",
        "total": found.accepted,
        "saved": found.written,
        "warning": _warning(command, found),
        "scope": f"{since}..{until}",
    }


async def bars(state: State, code: str, by: str) -> dict[str, Any]:
    """{status, code, total, periods{period: {saved}}, warning}."""
    command = await _run(state, BARS, by, tags={CODES_TAG: code})
    found = await _written(state, command, "fusion_kline_bar")
    saved: Mapping[str, int] = {}
    if command.run_id is not None:
        saved = await state.reading.scan(queries.bars_of_run, command.run_id, code)
    warning = _warning(command, found)
    empty = failure(command) is None and not found.accepted
    return {
        "status": "success" if failure(command) is None and not empty else "failed",
        "code": code,
        "total": found.accepted,
        "periods": {period: {"saved": saved.get(period, 0)} for period in PERIODS},
        "warning": f"no source has bars of {code}" if empty else warning,
    }
