"""SQL of the market reads: versions of the records that users compare."""

import hashlib
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy.engine import Connection

from core.clock import stamp
from resources.warehouse.sql import Sql
from serving_api.db.sessions import Session
from serving_api.framework.envelope import local_iso

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
