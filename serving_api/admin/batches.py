"""/datamgr/batches."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field

from core.errors import NotFound
from resources.orchestrator import run_url
from resources.redact import redact
from resources.settings import Settings
from resources.warehouse.stored import matching
from serving_api.admin.records import QualityRecord, newest, quality_record
from serving_api.admin.shared import Limit50, only, parse_json
from serving_api.db.batches import BATCHES, QUALITY
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Instant, StoredRow


class BatchInput(BaseModel):
    """What a batch read: a table, the batches that had written those rows (at most 50), the number of
    rows."""

    table: str | None
    batch_ids: list[str]
    rows: int | None
    max_date: str | None


class BatchSource(BaseModel):
    """The outcome of one upstream for a batch."""

    src: str | None
    rows: int | None
    calls: int | None
    fallback_reason: str | None = Field(description="why an earlier source was not used")
    error: str | None


class Batch(BaseModel):
    """One transactional write of one table and partition. rows_ok + rows_warning + rows_rejected = rows_in;
    rows_written + rows_unchanged = rows_ok + rows_warning."""

    batch_id: str
    table_name: str | None
    fusion_type: str | None
    domain: str | None
    trigger_type: str | None
    status: str | None
    run_id: str | None
    command_id: int | None
    parent_batch_id: str | None
    partition_key: str | None
    rows_in: int | None
    rows_ok: int | None
    rows_warning: int | None
    rows_rejected: int | None
    rows_unchanged: int | None
    rows_written: int | None
    rows_superseded: int | None
    started_at: Instant
    finished_at: Instant
    content_hash: str | None
    error: str | None
    run_url: str | None = Field(description="the run in the Dagster UI")
    inputs: list[BatchInput]
    sources: list[BatchSource]
    checks: dict[str, Any]


class Output(StoredRow):
    """Rows that a batch, or one of its children, wrote to a table."""

    batch_id: str
    partition_key: str | None
    rows_written: int | None
    rows_superseded: int | None
    content_hash: str | None
    table: str | None = Field(validation_alias="table_name")


class BatchDetail(Batch):
    outputs: list[Output]
    quality: list[QualityRecord]
    children: list[str]


MAX_CHILDREN = 2000
_CHUNK = 200


def by_ids(session: Session, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Batches by id; unknown ids are left out."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _CHUNK):
        rows = session.dicts(BATCHES, BATCHES.c.batch_id.in_(ids[start : start + _CHUNK]))
        found |= {str(row["batch_id"]): row for row in rows}
    return found


def children_of(session: Session, batch_id: str) -> list[dict[str, Any]]:
    """Batches that were written from one download, in the order of their partitions."""
    of = [BATCHES.c.parent_batch_id == batch_id]
    return session.dicts(
        BATCHES, *of, order=[BATCHES.c.partition_key, BATCHES.c.batch_id], limit=MAX_CHILDREN
    )


MAX_QUALITY = 500


def batch_facts(row: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """What the model `Batch` reads of a row of sys_batch."""
    return {
        **row,
        "run_url": run_url(settings, row["run_id"]),
        "inputs": [_input(item) for item in parse_json(row["inputs_json"], [])],
        "sources": [_source(item) for item in parse_json(row["sources_json"], [])],
        "checks": parse_json(row["checks_json"], {}),
        "error": None if row["error"] is None else redact(row["error"]),
    }


def _input(item: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: item.get(name) for name in ("table", "batch_ids", "rows", "max_date")}
    return {**known, "batch_ids": known["batch_ids"] or []}


def _source(item: Mapping[str, Any]) -> dict[str, Any]:
    """Without the ids of responses: lineage shows those that matter for a row."""
    error = item.get("error")
    known = {name: item.get(name) for name in ("src", "rows", "calls", "fallback_reason")}
    return {**known, "error": f"{error}: {item.get('reason', '')}" if error else None}


def _batch(session: Session, batch_id: str, settings: Settings) -> BatchDetail:
    row = by_ids(session, [batch_id]).get(batch_id)
    if row is None:
        raise NotFound(f"no batch {batch_id!r}")
    children = children_of(session, batch_id)
    failed = session.dicts(QUALITY, QUALITY.c.batch_id == batch_id, order=[QUALITY.c.id], limit=MAX_QUALITY)
    outputs = [Output.model_validate(item) for item in children or [row]]
    quality, ids = [quality_record(item) for item in failed], [child["batch_id"] for child in children]
    facts = batch_facts(row, settings)
    return BatchDetail.model_validate({**facts, "outputs": outputs, "quality": quality, "children": ids})


router = area_router(f"{PREFIX}/datamgr/batches", "datamgr: batches")


@router.get("", response_model=list[Batch])
@serves(top=[("total", int)])
async def batches(
    call: Admin,
    fusion_type: Annotated[str | None, only("dataset")] = None,
    status: Annotated[str | None, only("status: running, success, failed")] = None,
    run_id: Annotated[str | None, only("Dagster run")] = None,
    limit: Limit50 = 50,
) -> Answer:
    """Batches, newest first."""
    c = BATCHES.c
    where = [*matching(c.fusion_type, fusion_type), *matching(c.status, status), *matching(c.run_id, run_id)]
    order = (c.started_at.desc(), c.batch_id.desc())
    rows, total = await call.state.reading.scan(newest, BATCHES, where, limit, *order)
    items = [Batch.model_validate(batch_facts(row, call.state.settings)) for row in rows]
    return Answer({"items": items, "total": total})


@router.get("/{batch_id}", response_model=BatchDetail)
@serves(raises=(404,))
async def batch(call: Admin, batch_id: Annotated[str, Path(max_length=64, description="batch id")]) -> Answer:
    """One batch: what it wrote, which checks failed, which batches came from the same download."""
    return Answer(await call.state.reading.scan(_batch, batch_id, call.state.settings))
