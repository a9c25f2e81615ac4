"""Stored answers of the data types (`sys_market_snapshot`), and claims that let one API process refresh
them.

A row per data type and trade date. The processes of one deployment share it: the one that gets an
answer writes it, the others read it. A claim lets only one of them ask.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from core.clock import stamp
from resources.warehouse.stored import Where
from serving_api.db.sessions import Session
from serving_api.live import queries
from serving_api.live.claims import Claims
from serving_api.live.clients import HISTORY
from serving_api.live.data_types import Found
from serving_api.live.session_state import Moment

_COLUMNS = ("trade_date", "payload_json", "source", "is_final", "captured_at", "good_until")


@dataclass(frozen=True)
class Snapshot:
    """One stored answer. `is_final`: captured after the close of its trade date, so it is the day's last.
    `good_until`: the second of the system clock at which it expires."""

    session: str
    body: dict[str, Any]
    source: str | None
    is_final: bool
    at: datetime
    good_until: float | None = None


def of_session(session: Session, data_type: str, day: str) -> Snapshot | None:
    """The stored answer of a trade date."""
    c = queries.SNAPSHOTS.c
    return _first(session, c.data_type == data_type, c.trade_date == day)


def newest(session: Session, data_type: str, until: str) -> Snapshot | None:
    """The newest stored answer of a trade date up to `until`."""
    c = queries.SNAPSHOTS.c
    return _first(session, c.data_type == data_type, c.trade_date <= until, c.payload_json.is_not(None))


def _first(session: Session, *of: Where) -> Snapshot | None:
    table = queries.SNAPSHOTS
    rows = session.rows(table, *of, columns=_COLUMNS, order=[table.c.trade_date.desc()], limit=1)
    for day, payload, source, is_final, at, good in rows:
        if payload is not None and at is not None:
            captured = datetime.fromisoformat(str(at))
            return Snapshot(str(day), orjson.loads(payload), source, bool(is_final), captured, good)
    return None


def as_found(snapshot: Snapshot, moment: Moment) -> Found:
    """A stored answer of the running or just closed session keeps its source; an older one is history."""
    today = snapshot.session == moment.now.date().isoformat()
    origin = snapshot.source if today else HISTORY
    return Found(snapshot.body, moment.session, snapshot.at, origin, stored_of=snapshot.session)


def put(claims: Claims, data_type: str, snapshot: Snapshot) -> bool:
    """Store an answer and release the claim on it. False when the day's final answer, or a newer one, is
    already stored: then nothing is written."""
    values = {
        "payload_json": orjson.dumps(snapshot.body).decode(),
        "source": snapshot.source,
        "is_final": int(snapshot.is_final),
        "captured_at": snapshot.at.strftime("%Y-%m-%d %H:%M:%S"),
        "good_until": snapshot.good_until,
        "updated_at": stamp(snapshot.at),
    }
    return claims.write(queries.put_snapshot, queries.snapshot_row(data_type, snapshot.session), values)
