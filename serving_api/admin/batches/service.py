"""Batches as the API shows them."""

from collections.abc import Mapping
from typing import Any

from core.errors import NotFound
from resources.orchestrator import run_url
from resources.settings import Settings
from resources.transport.redact import redact
from serving_api.admin.batches import queries
from serving_api.admin.records.service import quality_record
from serving_api.admin.shared import instant, parse_json
from serving_api.db.sessions import Session
from serving_api.framework.state import State

MAX_QUALITY = 500
_PLAIN = (
    "batch_id table_name fusion_type domain trigger_type status run_id command_id parent_batch_id "
    "partition_key rows_in rows_ok rows_warning rows_rejected rows_unchanged rows_written rows_superseded "
    "content_hash"
).split()


def batch_view(row: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """A row of sys_batch as the model `Batch`."""
    return {
        **{name: row[name] for name in _PLAIN},
        "run_url": run_url(settings, row["run_id"]),
        "started_at": instant(row["started_at"]),
        "finished_at": instant(row["finished_at"]),
        "inputs": [_input(item) for item in parse_json(row["inputs_json"], [])],
        "sources": [_source(item) for item in parse_json(row["sources_json"], [])],
        "checks": parse_json(row["checks_json"], {}),
        "error": None if row["error"] is None else redact(row["error"]),
    }


def _input(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": item.get("table"),
        "batch_ids": item.get("batch_ids") or [],
        "rows": item.get("rows"),
        "max_date": item.get("max_date"),
    }


def _source(item: Mapping[str, Any]) -> dict[str, Any]:
    """Without the ids of responses: lineage shows those that matter for a row."""
    error = item.get("error")
    return {
        "src": item.get("src"),
        "rows": item.get("rows"),
        "calls": item.get("calls"),
        "fallback_reason": item.get("fallback_reason"),
        "error": f"{error}: {item.get('reason', '')}" if error else None,
    }


async def batches(
    state: State, *, fusion_type: str | None, status: str | None, run_id: str | None, limit: int
) -> dict[str, Any]:
    """{items[Batch], total}."""
    equal = {"fusion_type": fusion_type, "status": status, "run_id": run_id}
    rows, total = await state.reading.scan(queries.newest, equal, limit)
    return {"items": [batch_view(row, state.settings) for row in rows], "total": total}


async def batch(state: State, batch_id: str) -> dict[str, Any]:
    """One batch with what it wrote, its failed checks and its children. Raises NotFound."""
    return await state.reading.scan(_batch, batch_id, state.settings)


def _batch(session: Session, batch_id: str, settings: Settings) -> dict[str, Any]:
    row = queries.by_ids(session, [batch_id]).get(batch_id)
    if row is None:
        raise NotFound(f"no batch {batch_id!r}")
    children = queries.children(session, batch_id)
    return {
        **batch_view(row, settings),
        "outputs": [_output(item) for item in children or [row]],
        "quality": [quality_record(item) for item in queries.quality(session, batch_id, MAX_QUALITY)],
        "children": [child["batch_id"] for child in children],
    }


def _output(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("batch_id", "partition_key", "rows_written", "rows_superseded", "content_hash")
    return {**{name: row[name] for name in names}, "table": row["table_name"]}
