"""/market/change-detector: the differences between a user's record and its previous version.

A version per change and entity; the newest 200 differences of an entity and the 5,000 entities that
were compared last are stored.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

import anyio
import orjson
from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, field_validator
from sqlalchemy.engine import Connection

from core.clock import stamp
from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session, write
from serving_api.framework.envelope import PREFIX, local_iso
from serving_api.framework.permissions import Anyone, Login
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.market import schemas

NEWEST, HISTORY = "sys_change_snapshot", "sys_change_history"
KEPT_VERSIONS = 200
MOST_ENTITIES = 5000
Key = tuple[str, str]
"""(entity type, entity id)."""


def change_history(session: Session, entity_type: str, entity_id: str, limit: int) -> list[dict[str, Any]]:
    where, values = ("entity_type=?", [entity_type])
    if entity_id:
        where, values = f"{where} AND entity_id=?", [entity_type, entity_id]
    columns = ("entity_id", "version_no", "detected_at", "added", "removed", "changed", "changes_json")
    rows = session.rows(HISTORY, columns=columns, where=where, values=values, order="id DESC", limit=limit)
    return [
        {
            "entity_id": row[0],
            "version": int(row[1]),
            "detected_at": local_iso(datetime.fromisoformat(str(row[2]))),
            **dict(zip(("added", "removed", "changed"), map(int, row[3:6]), strict=True)),
            "changes": orjson.loads(row[6]),
        }
        for row in rows
    ]


def differences(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """{added, removed, changed_fields}: by the names of the top level."""
    return {
        "added": {name: now[name] for name in now if name not in before},
        "removed": {name: before[name] for name in before if name not in now},
        "changed_fields": [
            {"field": name, "old": before[name], "new": now[name]}
            for name in now
            if name in before and before[name] != now[name]
        ],
    }


def ensure_entity(connection: Connection, sql: Sql, key: Key, now: datetime) -> None:
    """Insert a row for the entity; beyond the limit the entity that was compared longest ago is deleted."""
    made = connection.exec_driver_sql(
        sql.insert_absent(NEWEST, ("entity_type", "entity_id", "version_no", "captured_at")),
        (*key, 0, _second(now)),
    )
    if made.rowcount != 1:
        return
    held = connection.exec_driver_sql(f"SELECT COUNT(*) FROM {NEWEST}").scalar_one()
    if held <= MOST_ENTITIES:
        return
    oldest = connection.exec_driver_sql(
        sql.text(
            f"SELECT entity_type, entity_id FROM {NEWEST} WHERE NOT (entity_type=? AND entity_id=?) "
            f"ORDER BY captured_at, entity_type, entity_id LIMIT {int(held) - MOST_ENTITIES}"
        ),
        key,
    ).all()
    for gone in oldest:
        for table in (NEWEST, HISTORY):
            connection.exec_driver_sql(
                sql.text(f"DELETE FROM {table} WHERE entity_type=? AND entity_id=?"), tuple(gone)
            )


def _second(now: datetime) -> str:
    return now.strftime("%Y-%m-%d %H:%M:%S")


def compare_versions(
    connection: Connection, sql: Sql, key: Key, now_payload: dict[str, Any], now: datetime
) -> dict[str, Any]:
    """Differences from the stored version; a payload that differs becomes the stored one."""
    lock = "" if sql.sqlite else " FOR UPDATE"
    found = connection.exec_driver_sql(
        sql.text(
            "SELECT payload_json, payload_hash, version_no, captured_at "
            f"FROM {NEWEST} WHERE entity_type=? AND entity_id=?{lock}"
        ),
        key,
    ).one()
    payload = orjson.dumps(now_payload, option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(payload).hexdigest()
    first = found[0] is None
    before = {} if first else orjson.loads(found[0])
    changed = not first and digest != found[1]
    found_changes = differences(before, now_payload) if changed else differences({}, {})
    version = int(found[2]) + (first or changed)
    if first or changed:
        connection.exec_driver_sql(
            sql.text(
                f"UPDATE {NEWEST} SET payload_json=?, payload_hash=?, version_no=?, captured_at=? "
                "WHERE entity_type=? AND entity_id=?"
            ),
            (payload.decode(), digest, version, _second(now), *key),
        )
    if changed:
        _remember(connection, sql, key, version, found_changes, now)
    return {
        "entity_type": key[0],
        "entity_id": key[1],
        "first": first,
        "changed": changed,
        **found_changes,
        "previous_at": None if first else local_iso(datetime.fromisoformat(str(found[3]))),
        "version": version,
    }


def _remember(
    connection: Connection,
    sql: Sql,
    key: tuple[str, str],
    version: int,
    changes: dict[str, Any],
    now: datetime,
) -> None:
    """Insert one row of the history; rows before the newest `KEPT_VERSIONS` of the entity are deleted."""
    fields = [
        *({"field": name, "old": None, "new": value} for name, value in changes["added"].items()),
        *({"field": name, "old": value, "new": None} for name, value in changes["removed"].items()),
        *changes["changed_fields"],
    ]
    columns = (
        *("entity_type", "entity_id", "version_no", "changes_json"),
        *("added", "removed", "changed", "detected_at"),
    )
    connection.exec_driver_sql(
        sql.insert(HISTORY, columns),
        (
            *key,
            version,
            orjson.dumps(fields).decode(),
            *(len(changes[name]) for name in ("added", "removed", "changed_fields")),
            stamp(now),
        ),
    )
    connection.exec_driver_sql(
        sql.text(f"DELETE FROM {HISTORY} WHERE entity_type=? AND entity_id=? AND version_no<=?"),
        (*key, version - KEPT_VERSIONS),
    )


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


@router.post("/compare", schemas.Comparison, raises=(503,))
async def compare(call: Login, body: Compared) -> Answer:
    """Differences from the last version of the same entity; an equal payload makes no new version."""
    # Two transactions: one that inserts and then locks can deadlock with another on MariaDB.
    key = (body.entity_type, body.entity_id)
    await _write(call.state, ensure_entity, key, call.state.clock.now())
    reported = await _write(call.state, compare_versions, key, body.payload, call.state.clock.now())
    return Answer(reported)


@router.get("/history/{entity_type}", schemas.ChangeHistory)
async def history(
    call: Anyone,
    entity_type: EntityType,
    entity_id: Annotated[str, Query(max_length=64, description="one entity; empty: all of the type")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="newest changes")] = 50,
) -> Answer:
    """Stored changes, newest first."""
    items = await read_or([], call.state.reading.point(change_history, entity_type, entity_id, limit))
    return Answer({"entity_type": entity_type, "items": items, "total": len(items)})


async def _write(state: State, work: Callable[..., T], *args: Any) -> T:
    return await anyio.to_thread.run_sync(write, state.writer, work, *args)
