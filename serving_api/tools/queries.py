"""SQL of the tools: the newest batches of tables, the tables with rows."""

from collections.abc import Sequence

from resources.warehouse.stored import stored
from serving_api.db.sessions import Session

VERSIONS = stored("table_version")


def last_batches(session: Session, tables: Sequence[str]) -> list[tuple[str, str | None, str | None]]:
    """(table, its newest batch, when that was written) of tables with rows."""
    of = [VERSIONS.c.table_name.in_(tables), VERSIONS.c.row_count > 0]
    columns = ("table_name", "last_batch_id", "updated_at")
    rows = session.rows(VERSIONS, *of, columns=columns, order=[VERSIONS.c.table_name])
    return [(str(name), batch, at) for name, batch, at in rows]


def filled_tables(session: Session) -> dict[str, tuple[str | None, int]]:
    """Table -> (its newest date, its rows)."""
    rows = session.rows(VERSIONS, columns=("table_name", "latest_date", "row_count"))
    return {str(name): (day, int(count or 0)) for name, day, count in rows}
