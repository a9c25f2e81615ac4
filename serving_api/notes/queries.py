"""SQL over the note tables."""

import json
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

TABLES = {"morning": "note_morning", "daily-review": "note_daily_review"}


def page(
    session: Session, kind: str, date: str | None, limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """(notes, newest first; total number)."""
    table = TABLES[kind]
    where, values = ("date=?", (date,)) if date else ("", ())
    rows = public_rows(
        session, table, where=where, values=values, order="date DESC", limit=limit, offset=offset
    )
    counted = session.run(f"SELECT COUNT(*) FROM {table}{f' WHERE {where}' if where else ''}", values)
    return [_reported(row) for row in rows], int(counted[0][0])


def _reported(row: Row) -> dict[str, Any]:
    reported = dict(row)
    sections, summary = reported.pop("sections_json", None), reported.pop("source_summary_json", None)
    return {**reported, "sections": _read(sections, list), "source_summary": _read(summary, dict)}


def _read(text: Any, kind: type) -> Any:
    """A stored JSON value of the given type; an empty one for anything else."""
    value = json.loads(text) if isinstance(text, str) and text else text
    return value if isinstance(value, kind) else kind()
