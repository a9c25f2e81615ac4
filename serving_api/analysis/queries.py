"""SQL over stock_analysis, and the few reads of an analysis that no evidence pack contains."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.engine import Connection

from core.clock import stamp
from resources.warehouse.sql import Sql
from resources.warehouse.table_versions import count_change
from serving_api.db.sessions import Session
from serving_api.evidence.parts import BARS, INDUSTRY

TABLE = "stock_analysis"
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
    sign = "=" if rules else "<>"
    rows = session.dicts(
        TABLE,
        columns=_COLUMNS,
        where=f"code=? AND date<=? AND source{sign}?",
        values=(code, today, RULES),
        order="date DESC, CASE source WHEN 'manual' THEN 0 ELSE 1 END, source",
        limit=1,
    )
    return _read(rows[0]) if rows else None


def of_day(session: Session, code: str, source: str, day: str) -> Row | None:
    rows = session.dicts(TABLE, {"code": code, "source": source, "date": day}, columns=_COLUMNS, limit=1)
    return _read(rows[0]) if rows else None


def history(session: Session, code: str, limit: int) -> tuple[list[Row], int]:
    """(newest first, total number)."""
    rows = session.dicts(
        TABLE,
        {"code": code},
        columns=("date", "total_score", "source"),
        order="date DESC, source",
        limit=limit,
    )
    counted = session.run(f"SELECT COUNT(*) FROM {TABLE} WHERE code=?", (code,))
    return rows, int(counted[0][0])


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
    rows = session.dicts(INDUSTRY, {"code": code}, columns=requested, as_of=stamp(now), limit=1)
    return {name: rows[0].get(name) for name in _OF_INDUSTRY} if rows else None


def last_close(session: Session, code: str, now: datetime) -> tuple[float | None, str | None]:
    """(close in CNY, its date) of the newest traded day whose bar was known at `now`: before the close of
    a session, that of the session before."""
    rows = session.rows(
        BARS,
        columns=("close", "date"),
        where="code=? AND date<=? AND (is_suspended IS NULL OR is_suspended=0) AND close IS NOT NULL",
        values=(code, now.date().isoformat()),
        as_of=stamp(now),
        order="date DESC",
        limit=1,
    )
    return (float(rows[0][0]), str(rows[0][1])) if rows else (None, None)


def _read(row: Row) -> Row:
    return {
        **row,
        **{name: json.loads(row[name]) if row[name] else None for name in _JSON},
        "date": str(row["date"]),
    }
