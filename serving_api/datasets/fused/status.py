"""Status of the fused layer (rows and quality of every table, locks, runs), and requests of a fusion: of the
whole market under the three domain locks, or of some codes."""

import asyncio
from collections.abc import Sequence
from typing import Any

from core.declaration.registry import builtin_registry
from core.errors import ConflictError
from resources.warehouse.ledger.commands import Command, CommandQueue
from resources.warehouse.locks import DOMAINS, DomainLocks
from serving_api.admin.records import logged_syncs
from serving_api.admin.schedule.service import lock_view
from serving_api.datasets.fused import queries
from serving_api.db.sessions import Reading
from serving_api.framework.envelope import instant
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

COMMAND = "fusion_sync"
OPEN = ("queued", "running")
RECENT = 20
Counts = dict[str, dict[str, int]]


class Qualities:
    """Rows of each table by quality, counted again only when the table's version changed."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[str, tuple[str, dict[str, int]]] = {}

    async def counts(self, tokens: dict[str, str]) -> Counts:
        """Of the tables in `tokens` (table -> version); raises StorageError."""
        moved = [name for name, token in tokens.items() if self._known.get(name, ("", {}))[0] != token]
        if moved:
            found = await self._reading.scan(queries.qualities, moved)
            self._known |= {name: (tokens[name], counts) for name, counts in found.items()}
        return {name: self._known[name][1] for name in tokens}


def qualities_of(state: State) -> Qualities:
    return Qualities(state.reading)


def fused_tables() -> list[str]:
    return [dataset.table_name for dataset in builtin_registry().fused()]


async def status(state: State) -> dict[str, Any]:
    """The whole response; parts that cannot be read are empty."""
    tables, logs, locks, running = await asyncio.gather(
        read_or({}, _tables(state)),
        read_or({"items": []}, logged_syncs(state, task_type=None, status=None, code=None, limit=RECENT)),
        read_or([], off_loop(DomainLocks(state.reading.warehouse.engine).states)),
        read_or([], off_loop(CommandQueue(state.reading.warehouse.engine).of_name, COMMAND, statuses=OPEN)),
    )
    held = {lock.domain: lock_view(lock) for lock in locks}
    ok, warning = (sum(table[name] for table in tables.values()) for name in ("ok", "warning"))
    ratio = round(ok / (ok + warning), 4) if ok + warning else None
    return {
        "tables": tables,
        "quality": {"ok": ok, "warning": warning, "okRatio": ratio},
        "locks": {domain: held.get(domain, _FREE) for domain in DOMAINS},
        "recent_tasks": logs["items"],
        "running": bool(running) or any(lock["held"] for lock in held.values()),
    }


_FREE = {"held": False, "holder": None, "since": None}


async def _tables(state: State) -> dict[str, dict[str, Any]]:
    known = await state.versions.current()
    names = [name for name in fused_tables() if name in state.reading.warehouse.tables]
    tokens = {name: known[name].token for name in names if name in known}
    counts = await state.part(qualities_of).counts(tokens)
    found = {}
    for name in names:
        version = known.get(name)
        by_quality = counts.get(name, {})
        rows = {"rows": sum(by_quality.values())}
        rows |= {quality: by_quality.get(quality, 0) for quality in ("ok", "warning")}
        date, update = (version.latest_date, instant(version.updated_at)) if version else (None, None)
        found[name] = {**rows, "latestDate": date, "latestUpdate": update}
    return found


async def request_sync(state: State, codes: Sequence[str] | None, asked_by: str) -> dict[str, Any]:
    """The body of the 202. Raises ConflictError when a domain is locked or a full fusion is under way
    (full market only)."""
    requested = None if codes is None else list(codes)
    command = await off_loop(_enqueue, state, requested, asked_by)
    mode, message = "full_market", "已接受全市场融合任务，后台执行"
    if codes is not None:
        mode, message = "codes", f"已接受 {len(codes)} 只股票的融合任务"
    accepted = {"status": "accepted", "mode": mode, "message": message, "codes": list(codes or ())}
    return {**accepted, "command_id": command.id, "batch_id": None}


def _enqueue(state: State, codes: list[str] | None, asked_by: str) -> Command:
    queue = CommandQueue(state.writer.engine)
    if codes is not None:
        return queue.enqueue(COMMAND, {"codes": codes}, requested_by=asked_by)
    held = next((lock for lock in DomainLocks(state.writer.engine).states() if lock.held), None)
    if held is not None:
        raise ConflictError(f"domain lock: {held.domain} is held by {held.owner}")
    return queue.enqueue_alone(COMMAND, {}, requested_by=asked_by, about="full", same=_is_full)


def _is_full(command: Command) -> bool:
    return not command.args.get("codes")
