"""SQL of evidence packs: the newest rows of some companies, one read per table, with audit columns."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from core.clock import stamp
from resources.warehouse.reads import source_of
from resources.warehouse.sql import marks
from serving_api.db.rows import newest_date, on_date
from serving_api.db.sessions import Session
from serving_api.evidence.parts import Part

AUDIT = ("quality", "batch_id")
Row = dict[str, Any]


def columns_to_read(session: Session, table: str, requested: Iterable[str]) -> list[str]:
    """Key, date and audit columns, and those of `requested` that are declared."""
    declared = session.table(table)
    dated = (declared.date_column,) if declared.date_column else ()
    return session.columns(table, list(dict.fromkeys((*declared.key, *dated, *requested, *AUDIT))))


def rows_of(session: Session, part: Part, codes: Sequence[str], now: datetime) -> list[Row]:
    """`part.rows` rows of each company, as known at `now`."""
    declared = session.table(part.table)
    names = columns_to_read(
        session, part.table, (*part.names, *part.extra, *((part.known,) if part.known else ()))
    )
    where, values = [f"code IN ({marks(codes)})"], list(codes)
    day, order = declared.date_column, part.order or ", ".join(declared.key)
    if day:
        since, until = _window(part, now)
        where += [f"{day}>=?", f"{day}<=?"]
        values += [since, until if declared.timed else until[:10]]
        order = part.order or f"{day}{'' if part.ahead else ' DESC'}, {', '.join(declared.key)}"
    if part.known and part.known in names:
        where.append(f"({part.known} IS NULL OR {part.known}<=?)")
        values.append(now.date().isoformat())
    versions = declared.has_history
    source = source_of(declared, names, " AND ".join(where), as_of=versions, sql=session.sql)
    instant = stamp(now)
    bound = [*values, instant, *values, instant, instant] if versions else values
    ranked = f"ROW_NUMBER() OVER (PARTITION BY code ORDER BY {order}) AS place"
    found = session.run(
        f"SELECT * FROM (SELECT t.*, {ranked} FROM ({source}) t) ranked WHERE place<=? ORDER BY code, place",
        (*bound, part.rows),
    )
    session.note(declared.name, names, codes)
    flags = {spec.name for spec in declared.columns if spec.family == "bool"}
    return [
        {
            name: bool(value) if name in flags and value is not None else value
            for name, value in zip(names, row, strict=False)
        }
        for row in found
    ]


def _window(part: Part, now: datetime) -> tuple[str, str]:
    if part.ahead:
        return now.date().isoformat(), (now + timedelta(days=part.ahead)).strftime("%Y-%m-%d 23:59:59")
    return (now - timedelta(days=part.days)).date().isoformat(), now.strftime("%Y-%m-%d %H:%M:%S")


def of_newest_day(
    session: Session,
    table: str,
    requested: Iterable[str],
    now: datetime,
    *,
    sort: str | None = None,
    limit: int = 50,
    also: Sequence[tuple[str, str, Any]] = (),
) -> list[Row]:
    """Rows of the newest date up to today, by a column (`-` = descending), missing values last."""
    declared = session.table(table)
    as_of = stamp(now) if declared.has_history else None
    day = newest_date(session, declared, as_of)
    if day is None or day[:10] > now.date().isoformat():
        return []
    return on_date(
        session, declared, day, sort=sort, limit=limit, offset=0, as_of=as_of,
        columns=columns_to_read(session, table, requested), also=also,
    )  # fmt: skip
