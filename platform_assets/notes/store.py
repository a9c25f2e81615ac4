"""Stores notes, one row a day: a note of rules replaces one of rules, a model's replaces both, and none
replaces a person's."""

import json
from datetime import datetime

from sqlalchemy.engine import Engine

from core.clock import stamp
from platform_assets.compute.note_days import AI, RULES
from platform_assets.notes.notes import Note
from resources.warehouse.engine import transaction
from resources.warehouse.sql import Sql, marks

MORNING, REVIEW = "note_morning", "note_daily_review"
_VALUES = ("title", "content", "sections_json", "source", "source_summary_json", "updated_at")


def store(engine: Engine, table: str, day: str, note: Note, now: datetime) -> bool:
    """False when the day has a note of another source, which stays. Raises StorageError."""
    sql = Sql(engine)
    replaced = (RULES, AI) if note.source == AI else (RULES,)
    values = (
        note.title, note.content, json.dumps(note.sections, ensure_ascii=False), note.source,
        json.dumps(note.summary, ensure_ascii=False), stamp(now),
    )  # fmt: skip
    sets = ", ".join(f"{sql.name(column)}=?" for column in _VALUES)
    with transaction(engine) as connection:
        connection.exec_driver_sql(
            sql.insert_absent(table, ("date", *_VALUES, "created_at")), (day, *values, stamp(now))
        )
        connection.exec_driver_sql(
            sql.text(
                f"UPDATE {sql.name(table)} SET {sets} WHERE {sql.name('date')}=?"
                f" AND source IN ({marks(replaced)})"
            ),
            (*values, day, *replaced),
        )
        # Caches and ETags go by the version.
        connection.exec_driver_sql(
            sql.text(
                "UPDATE table_version SET version=version+1, updated_at=?, latest_date=?, row_count="
                f"(SELECT COUNT(*) FROM {sql.name(table)}) WHERE table_name=?"
            ),
            (stamp(now), day, table),
        )
        kept = connection.exec_driver_sql(
            sql.text(f"SELECT source FROM {sql.name(table)} WHERE {sql.name('date')}=?"), (day,)
        ).scalar_one()
    return str(kept) == note.source
