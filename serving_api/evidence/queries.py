"""SQL of evidence packs: the newest rows of some companies, one read per table, with audit columns."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from core.clock import stamp
from resources.warehouse.reads import all_of, source_of
from resources.warehouse.stored import ANY, Order, Where, within
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
    where: list[Where] = [ANY.code.in_(codes)]
    day = declared.date_column
    order: list[Order] = [ANY[name] for name in declared.key]
    if day:
        since, until = _window(part, now)
        where += within(ANY[day], since, until if declared.timed else until[:10])
        order[:0] = [ANY[day] if part.ahead else ANY[day].desc()]
    if part.known and part.known in names:
        known = ANY[part.known]
        where.append(known.is_(None) | (known <= now.date().isoformat()))
    source = source_of(declared, names, where, as_of=stamp(now) if declared.has_history else None)
    place = sa.func.row_number().over(partition_by=ANY.code, order_by=part.order or order).label("place")
    ranked = sa.select(sa.literal_column("t.*"), place).select_from(source.subquery("t"))
    found = session.run(all_of(ranked).where(ANY.place <= part.rows).order_by(ANY.code, ANY.place))
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
    if part.around:
        return (now - timedelta(days=part.days)).date().isoformat(), _end(now, part)
    if part.ahead:
        return now.date().isoformat(), _end(now, part)
    return (now - timedelta(days=part.days)).date().isoformat(), now.strftime("%Y-%m-%d %H:%M:%S")


def of_newest_day(
    session: Session,
    table: str,
    requested: Iterable[str],
    now: datetime,
    *also: Where,
    sort: str | None = None,
    limit: int = 50,
) -> list[Row]:
    """Rows of the newest date up to today, by a column (`-` = descending), missing values last."""
    declared = session.table(table)
    as_of = stamp(now) if declared.has_history else None
    day = newest_date(session, declared, as_of)
    if day is None or day[:10] > now.date().isoformat():
        return []
    return on_date(
        session, declared, day, *also, sort=sort, limit=limit, as_of=as_of,
        columns=columns_to_read(session, table, requested),
    )  # fmt: skip


def _end(now: datetime, part: Part) -> str:
    return (now + timedelta(days=part.ahead)).strftime("%Y-%m-%d 23:59:59")
