"""/market/change-detector: the differences between a user's record and its previous version.

A version per change and entity; the newest 200 differences of an entity and the 5,000 entities that
were compared last are stored.
"""

import hashlib
from datetime import datetime
from typing import Annotated, Any

import orjson
import sqlalchemy as sa
from fastapi import Path, Query
from pydantic import BaseModel, Field, field_validator
from sqlalchemy.engine import Connection

from core.clock import local_iso, stamp
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, Where, delete, matching, select, stored, update
from serving_api.db.sessions import Session, write
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Anyone, Login
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.threads import off_loop
from serving_api.market import schemas

NEWEST, HISTORY = stored("sys_change_snapshot"), stored("sys_change_history")
KEPT_VERSIONS = 200
MOST_ENTITIES = 5000
Key = tuple[str, str]
"""(entity type, entity id)."""


def change_history(session: Session, entity_type: str, entity_id: str, limit: int) -> list[dict[str, Any]]:
    columns = ("entity_id", "version_no", "detected_at", "added", "removed", "changed", "changes_json")
    of = [HISTORY.c.entity_type == entity_type, *matching(HISTORY.c.entity_id, entity_id or None)]
    return [
        {
            "entity_id": row["entity_id"],
            "version": row["version_no"],
            "detected_at": local_iso(datetime.fromisoformat(str(row["detected_at"]))),
            **{name: row[name] for name in ("added", "removed", "changed")},
            "changes": orjson.loads(row["changes_json"]),
        }
        for row in session.dicts(HISTORY, *of, columns=columns, order=[ANY.id.desc()], limit=limit)
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
    held = connection.execute(select(NEWEST, sa.func.count())).scalar_one()
    if held <= MOST_ENTITIES:
        return
    c = NEWEST.c
    others = select(NEWEST, c.entity_type, c.entity_id).where(sa.not_(sa.and_(*_of(key))))
    oldest = others.order_by(c.captured_at, c.entity_type, c.entity_id).limit(int(held) - MOST_ENTITIES)
    for kind, name in connection.execute(oldest).all():
        for table in (NEWEST, HISTORY):
            connection.execute(delete(table, *_of((kind, name))))


def _of(key: Key) -> list[Where]:
    return [ANY.entity_type == key[0], ANY.entity_id == key[1]]


def _second(now: datetime) -> str:
    return now.strftime("%Y-%m-%d %H:%M:%S")


def compare_versions(
    connection: Connection, sql: Sql, key: Key, now_payload: dict[str, Any], now: datetime
) -> dict[str, Any]:
    """Differences from the stored version; a payload that differs becomes the stored one."""
    c = NEWEST.c
    stored_version = select(NEWEST, c.payload_json, c.payload_hash, c.version_no, c.captured_at)
    found = connection.execute(stored_version.where(*_of(key)).with_for_update()).one()
    payload = orjson.dumps(now_payload, option=orjson.OPT_SORT_KEYS)
    digest = hashlib.sha256(payload).hexdigest()
    first = found[0] is None
    before = {} if first else orjson.loads(found[0])
    changed = not first and digest != found[1]
    found_changes = differences(before, now_payload) if changed else differences({}, {})
    version = int(found[2]) + (first or changed)
    if first or changed:
        held = {"payload_json": payload.decode(), "payload_hash": digest, "version_no": version}
        connection.execute(update(NEWEST, {**held, "captured_at": _second(now)}, *_of(key)))
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
    connection: Connection, sql: Sql, key: Key, version: int, changes: dict[str, Any], now: datetime
) -> None:
    """Insert one row of the history; rows before the newest `KEPT_VERSIONS` of the entity are deleted."""
    fields = [
        *({"field": name, "old": None, "new": value} for name, value in changes["added"].items()),
        *({"field": name, "old": value, "new": None} for name, value in changes["removed"].items()),
        *changes["changed_fields"],
    ]
    row = {
        "entity_type": key[0], "entity_id": key[1], "version_no": version,
        "changes_json": orjson.dumps(fields).decode(), "added": len(changes["added"]),
        "removed": len(changes["removed"]), "changed": len(changes["changed_fields"]),
        "detected_at": stamp(now),
    }  # fmt: skip
    sql.put(connection, HISTORY, row)
    connection.execute(delete(HISTORY, *_of(key), HISTORY.c.version_no <= version - KEPT_VERSIONS))


router = area_router(f"{PREFIX}/market/change-detector", "market: change detector")

MOST_BYTES = 64 * 1024
_NAME = r"^[A-Za-z0-9_.:-]+$"

EntityType = Annotated[str, Path(min_length=1, max_length=32, pattern=_NAME, description="kind of thing")]


class Compared(BaseModel):
    """The current state of one entity."""

    model_config = example(entity_type="thesis", entity_id="600519", payload={"target": 1800})

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


@router.post("/compare", response_model=schemas.Comparison)
@serves(raises=(503,))
async def compare(call: Login, body: Compared) -> Answer:
    """Differences from the last version of the same entity; an equal payload makes no new version."""
    # Two transactions: one that inserts and then locks can deadlock with another on MariaDB.
    writer, now, key = call.state.writer, call.state.clock.now, (body.entity_type, body.entity_id)
    await off_loop(write, writer, ensure_entity, key, now())
    return Answer(await off_loop(write, writer, compare_versions, key, body.payload, now()))


@router.get("/history/{entity_type}", response_model=schemas.ChangeHistory)
async def history(
    call: Anyone,
    entity_type: EntityType,
    entity_id: Annotated[str, Query(max_length=64, description="one entity; empty: all of the type")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="newest changes")] = 50,
) -> Answer:
    """Stored changes, newest first."""
    items = await read_or([], call.state.reading.point(change_history, entity_type, entity_id, limit))
    return Answer({"entity_type": entity_type, "items": items, "total": len(items)})
