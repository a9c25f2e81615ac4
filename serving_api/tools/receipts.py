"""Receipts of answers from stored tables."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from serving_api.framework.envelope import local_iso
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.live.clients import ORIGIN
from serving_api.tools import queries

OUTSIDE = frozenset(ORIGIN.values())
"""Sources that are not our tables."""


async def of_tables(state: State, tables: Sequence[str]) -> dict[str, Any]:
    """Fields of a `Draft`: the tables with rows, their newest batches, the newest time."""
    rows = await read_or([], state.reading.point(queries.last_batches, tuple(tables))) if tables else []
    times = [at for _, _, at in rows if at]
    return {
        "sources": [name for name, _, _ in rows],
        "batch_ids": [batch for _, batch, _ in rows if batch],
        "as_of": local_iso(datetime.fromisoformat(max(times))) if times else None,
    }


async def of_live(state: State, sources: Sequence[str], as_of: str | None) -> dict[str, Any]:
    """Receipts of a live read, which a stored table may have answered instead of an external source."""
    reported = await of_tables(state, [name for name in sources if name not in OUTSIDE])
    is_live = any(name in OUTSIDE for name in sources)
    return {"sources": list(sources), "batch_ids": reported["batch_ids"], "as_of": as_of, "live": is_live}
