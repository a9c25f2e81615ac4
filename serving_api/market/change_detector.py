"""/market/change-detector: the differences between a user's record and its previous version.

A version per change and entity; the newest 200 differences of an entity and the 5,000 entities that
were compared last are stored.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import anyio
import orjson
from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.requests import Request

from resources.warehouse.engine import transaction
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone, Login
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import State, state_of
from serving_api.market import queries, schemas

router = area_router(f"{PREFIX}/market/change-detector", "market: change detector")

MOST_BYTES = 64 * 1024
_NAME = r"^[A-Za-z0-9_.:-]+$"
T = TypeVar("T")

EntityType = Annotated[str, Path(min_length=1, max_length=32, pattern=_NAME, description="kind of thing")]


class Compared(BaseModel):
    """The current state of one entity."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"entity_type": "thesis", "entity_id": "600519", "payload": {"target": 1800}}]
        }
    )

    entity_type: str = Field(min_length=1, max_length=32, pattern=_NAME)
    entity_id: str = Field(min_length=1, max_length=64, pattern=_NAME)
    payload: dict[str, Any] = Field(description="its fields; at most 64 kB as JSON")

    @field_validator("payload")
    @classmethod
    def _fits(cls, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            size = len(orjson.dumps(payload))
        except TypeError as error:  # integers beyond 64 bits, nesting without end
            raise ValueError("numbers of at most 64 bits and at most 254 levels are allowed") from error
        if size > MOST_BYTES:
            raise ValueError(f"{size} bytes; at most {MOST_BYTES} are allowed")
        return payload


@router.post("/compare")
@serving(schemas.Comparison, raises=(503,))
async def compare(request: Request, subject: Login, body: Compared) -> Answer:
    """Differences from the last version of the same entity; an equal payload makes no new version."""
    state = state_of(request)
    # Two transactions: one that inserts and then locks can deadlock with another on MariaDB.
    key = (body.entity_type, body.entity_id)
    await _write(state, queries.ensure_entity, key, state.clock.now())
    reported = await _write(state, queries.compare_versions, key, body.payload, state.clock.now())
    return Answer(reported)


@router.get("/history/{entity_type}")
@serving(schemas.ChangeHistory)
async def history(
    request: Request,
    subject: Anyone,
    entity_type: EntityType,
    entity_id: Annotated[str, Query(max_length=64, description="one entity; empty: all of the type")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="newest changes")] = 50,
) -> Answer:
    """Stored changes, newest first."""
    items = await read_or(
        [], state_of(request).reading.point(queries.change_history, entity_type, entity_id, limit)
    )
    return Answer({"entity_type": entity_type, "items": items, "total": len(items)})


async def _write(state: State, work: Callable[..., T], *args: Any) -> T:
    def transact() -> T:
        with transaction(state.writer.engine) as connection:
            return work(connection, state.writer.sql, *args)

    return await anyio.to_thread.run_sync(transact)
