"""Interfaces over calculated tables by trade date: rows of the whole market, or of its industries."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces import queries
from serving_api.interfaces.call import Executor, InterfaceCall, day_of, filters_of

RANKED = ("sw_l1", "sw_l2", "em")
_ALL = 5000


def of_date(session: Session, call: InterfaceCall) -> Any:
    """The row of one trade date (default: the newest stored); null when there is none."""
    day = day_of(session, call)
    if day is None:
        return None
    where = f"{call.table.date_column}=?"
    rows = queries.public_rows(session, call.table.name, where=where, values=(day,), limit=1)
    return rows[0] if rows else None


def newest_days(session: Session, call: InterfaceCall) -> Any:
    """The rows of the newest trade dates, oldest first; of one industry (or source) when it is given."""
    day = str(call.table.date_column)
    where, values = [f"{day}>=?"], [call.calendar.last(call.params["days"], call.today)[0]]
    if any(required for _, required, _ in call.interface.params.values()):
        where.append(f"{queries.code_column(call.table)}=?")
        values.append(call.code)
    else:
        own = queries.code_column(call.table)
        given = {own: call.params.get(own), **filters_of(call)}
        chosen = {name: value for name, value in given.items() if value is not None}
        where += [f"{name}=?" for name in chosen]
        values += chosen.values()
    rest = [name for name in call.table.key if name != day]
    order = ", ".join([day, *rest])
    return queries.public_rows(
        session, call.table.name, where=" AND ".join(where), values=tuple(values), order=order
    )


def industry_ranks(session: Session, call: InterfaceCall) -> Any:
    """The first and the last `top_n` industries of one level on a date, by rank."""
    level, count = call.params["level"], call.params["top_n"]
    if level not in RANKED:
        raise call.bad("level", f"{level[:40]!r} is none of {', '.join(RANKED)}")
    day = day_of(session, call)
    if day is None:
        return []
    rows = queries.on_date(
        session, call.table, day, sort="rank_no", limit=_ALL, offset=0, as_of=None,
        also=[("level", "=", level)],
    )  # fmt: skip
    return rows if len(rows) <= 2 * count else [*rows[:count], *rows[-count:]]


def freshness(session: Session, call: InterfaceCall) -> Any:
    """The newest snapshot: {snapshot_date, is_fresh, stale[], dimensions{<table>: {...}}}; snapshot_date
    null and the rest empty when none was taken."""
    day = queries.newest_date(session, call.table, None)
    rows = queries.public_rows(
        session, call.table.name, where="snapshot_date=?", values=(day,), order="dimension"
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
