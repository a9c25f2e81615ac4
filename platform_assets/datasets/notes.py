"""note_morning, note_daily_review: one note a day, before the session and after it.

No load fills them: a note is stored by what writes it. A note of the rules (`local_rule`) never overwrites
one of another source.
"""

from core.declaration.columns import columns_from
from core.declaration.dataset import Dataset
from core.declaration.interfaces import DAY, market
from core.declaration.tables import Layer, Table

_COLUMNS = columns_from(
    "date:date title:s255 content:mtext sections_json:json source:s16 source_summary_json:json"
)


def _note(name: str, title: str) -> Table:
    return Table(
        name=name,
        layer=Layer.NOTE,
        columns=_COLUMNS,
        key=("date",),
        dataset="notes",
        description=title,
        date_column="date",
    )


DATASET = Dataset(
    name="notes",
    subject="news",
    title="Notes of the day",
    records=(
        _note("note_morning", "Note before the session"),
        _note("note_daily_review", "Review after the session"),
    ),
    interfaces=(
        market("get_morning_note", "of_date", "morning note", ttl=600, returns="object|null").takes(date=DAY),
        market(
            "get_daily_review",
            "of_date",
            "daily review",
            ttl=600,
            returns="object|null",
            table="note_daily_review",
        ).takes(date=DAY),
    ),
)
