"""SQL over stock_analysis, and the few reads of an analysis that no evidence pack contains."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.clock import stamp
from resources.warehouse.sql import Sql
from resources.warehouse.stored import ANY, stored
from resources.warehouse.table_versions import count_change
from serving_api.db.rows import TRADED
from serving_api.db.sessions import Session
from serving_api.evidence.parts import BARS, INDUSTRY

TABLE = stored("stock_analysis")
KEY = ("source", "code", "date")
RULES = "quant_prefill"
_JSON = ("scores_json", "sections_json", "evidence_json", "receipt_json")
_COLUMNS = (
    *KEY, "name", "industry", "direction", "total_score", "conclusion", "gate_blocked", "gate_reason",
    "model", "as_of", *_JSON,
)  # fmt: skip
_OF_INDUSTRY = ("code", "sw_l1", "sw_l1_name", "concepts", "quality", "batch_id")
Row = dict[str, Any]


def newest(session: Session, code: str, today: str, rules: bool) -> Row | None:
    """The newest stored analysis up to a day: one by rules, or one by a model or a person (of one day, the
    person's). None when there is none."""
    c = TABLE.c
    of = [c.code == code, c.date <= today, c.source == RULES if rules else c.source != RULES]
    order = [c.date.desc(), sa.case((c.source == "manual", 0), else_=1), c.source]
    rows = session.dicts(TABLE, *of, columns=_COLUMNS, order=order, limit=1)
    return _read(rows[0]) if rows else None


def of_day(session: Session, code: str, source: str, day: str) -> Row | None:
    rows = session.dicts(
        TABLE, TABLE.c.code == code, TABLE.c.source == source, TABLE.c.date == day, columns=_COLUMNS, limit=1
    )
    return _read(rows[0]) if rows else None


def history(session: Session, code: str, limit: int) -> tuple[list[Row], int]:
    """(newest first, total number)."""
    of, columns = [TABLE.c.code == code], ("date", "total_score", "source")
    rows = session.dicts(
        TABLE, *of, columns=columns, order=[TABLE.c.date.desc(), TABLE.c.source], limit=limit
    )
    return rows, session.count(TABLE, *of)


def put(connection: Connection, sql: Sql, row: Mapping[str, Any], now: str) -> None:
    """Insert the row, or replace the one of the same source, code and day."""
    values = {
        name: json.dumps(row[name], ensure_ascii=False) if name in _JSON else row[name] for name in _COLUMNS
    }
    connection.exec_driver_sql(
        sql.insert_absent(TABLE, (*KEY, "created_at")), (*(values[name] for name in KEY), now)
    )
    named = {**values, "updated_at": now}
    connection.exec_driver_sql(sql.upsert(TABLE, list(named), KEY), tuple(named.values()))
    count_change(sql, connection, TABLE, now)


def industry_of(session: Session, code: str, now: datetime) -> Row | None:
    """code, sw_l1, sw_l1_name, concepts, quality, batch_id as known at `now`."""
    if not session.has(INDUSTRY):
        return None
    requested = session.columns(INDUSTRY, _OF_INDUSTRY)
    rows = session.dicts(INDUSTRY, ANY.code == code, columns=requested, as_of=stamp(now), limit=1)
    return {name: rows[0].get(name) for name in _OF_INDUSTRY} if rows else None


def last_close(session: Session, code: str, now: datetime) -> tuple[float | None, str | None]:
    """(close in CNY, its date) of the newest traded day whose bar was known at `now`: before the close of
    a session, that of the session before."""
    of = [ANY.code == code, ANY.date <= now.date().isoformat(), TRADED, ANY.close.is_not(None)]
    columns, order = ("close", "date"), [ANY.date.desc()]
    rows = session.rows(BARS, *of, columns=columns, as_of=stamp(now), order=order, limit=1)
    return (float(rows[0][0]), str(rows[0][1])) if rows else (None, None)


def _read(row: Row) -> Row:
    parsed = {name: json.loads(row[name]) if row[name] else None for name in _JSON}
    return {**row, **parsed, "date": str(row["date"])}
