"""Interfaces over calculated tables by trade date: rows of the market as a whole, or of its industries."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces import queries
from serving_api.interfaces.call import Executor, Question, day_of, filters_of

RANKED = ("sw_l1", "sw_l2", "em")
_ALL = 5000


def of_date(session: Session, asked: Question) -> Any:
    """The row of one trade date (default: the newest stored); null where there is none."""
    day = day_of(session, asked)
    if day is None:
        return None
    where = f"{asked.table.date_column}=?"
    rows = queries.public_rows(session, asked.table.name, where=where, values=(day,), limit=1)
    return rows[0] if rows else None


def newest_days(session: Session, asked: Question) -> Any:
    """The rows of the newest trade dates, oldest first; of one industry (or source) where it is named."""
    day = str(asked.table.date_column)
    where, values = [f"{day}>=?"], [asked.calendar.last(asked.params["days"], asked.today)[0]]
    if any(required for _, required, _ in asked.interface.params.values()):
        where.append(f"{queries.code_column(asked.table)}=?")
        values.append(asked.code)
    else:
        own = queries.code_column(asked.table)
        given = {own: asked.params.get(own), **filters_of(asked)}
        chosen = {name: value for name, value in given.items() if value is not None}
        where += [f"{name}=?" for name in chosen]
        values += chosen.values()
    rest = [name for name in asked.table.key if name != day]
    order = ", ".join([day, *rest])
    return queries.public_rows(
        session, asked.table.name, where=" AND ".join(where), values=tuple(values), order=order
    )


def industry_ranks(session: Session, asked: Question) -> Any:
    """The first and the last `top_n` industries of one level on a date, by rank."""
    level, count = asked.params["level"], asked.params["top_n"]
    if level not in RANKED:
        raise asked.bad("level", f"{level[:40]!r} is none of {', '.join(RANKED)}")
    day = day_of(session, asked)
    if day is None:
        return []
    rows = queries.on_date(
        session, asked.table, day, sort="rank_no", limit=_ALL, offset=0, as_of=None,
        also=[("level", "=", level)],
    )  # fmt: skip
    return rows if len(rows) <= 2 * count else [*rows[:count], *rows[-count:]]


def freshness(session: Session, asked: Question) -> Any:
    """The newest snapshot: {snapshot_date, is_fresh, stale[], dimensions{<table>: {...}}}; without a day,
    and empty, where none was taken."""
    day = queries.newest_date(session, asked.table, None)
    rows = queries.public_rows(
        session, asked.table.name, where="snapshot_date=?", values=(day,), order="dimension"
    )
    stale = [row["dimension"] for row in rows if row["is_stale"]]
    hidden = {"snapshot_date", "dimension"}
    return {
        "snapshot_date": day,
        "is_fresh": not stale if rows else None,
        "stale": stale,
        "dimensions": {
            row["dimension"]: {name: value for name, value in row.items() if name not in hidden}
            for row in rows
        },
    }


EXECUTORS: Mapping[str, Executor] = {
    "of_date": of_date,
    "newest_days": newest_days,
    "industry_ranks": industry_ranks,
    "freshness": freshness,
}
