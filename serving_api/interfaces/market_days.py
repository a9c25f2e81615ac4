"""Interfaces over calculated tables by trade date: rows of the whole market, of its industries, patterns."""

from typing import Any

from platform_assets.compute.parameters.patterns import DIRECTIONS
from resources.warehouse.stored import ANY, matching
from serving_api.db import rows as rows_of
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall, day_of, filters_of, shown_columns, sort_of
from serving_api.interfaces.parameters import MOST_ROWS

RANKED = ("sw_l1", "sw_l2", "em")


def of_date(session: Session, call: InterfaceCall) -> Any:
    """The row of one trade date (default: the newest stored); null when there is none."""
    day = day_of(session, call)
    if day is None:
        return None
    rows = rows_of.public_rows(session, call.table.name, ANY[str(call.table.date_column)] == day, limit=1)
    return rows[0] if rows else None


def newest_days(session: Session, call: InterfaceCall) -> Any:
    """The rows of the newest trade dates, oldest first; of one industry (or source) when it is given."""
    day = str(call.table.date_column)
    own = rows_of.code_column(call.table)
    of = [ANY[day] >= call.calendar.last(call.params["days"], call.today)[0]]
    if any(parameter.required for parameter in call.interface.params.values()):
        of.append(ANY[own] == call.code)
    else:
        of += [*matching(ANY[own], call.params.get(own)), *filters_of(call)]
    order = [day, *(name for name in call.table.key if name != day)]
    return rows_of.public_rows(session, call.table.name, *of, order=order)


def industry_ranks(session: Session, call: InterfaceCall) -> Any:
    """The first and the last `top_n` industries of one level on a date, by rank."""
    level, count = call.params["level"], call.params["top_n"]
    if level not in RANKED:
        raise call.bad("level", f"{level[:40]!r} is none of {', '.join(RANKED)}")
    day = day_of(session, call)
    if day is None:
        return []
    rows = rows_of.on_date(session, call.table, day, ANY.level == level, sort="rank_no")
    return rows if len(rows) <= 2 * count else [*rows[:count], *rows[-count:]]


def freshness(session: Session, call: InterfaceCall) -> Any:
    """The newest snapshot: {snapshot_date, is_fresh, stale[], dimensions{<table>: {...}}}; snapshot_date
    null and the rest empty when none was taken."""
    day = rows_of.newest_date(session, call.table, None)
    rows = rows_of.public_rows(
        session, call.table.name, *matching(ANY.snapshot_date, day), order=["dimension"]
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


def patterns_by_date(session: Session, call: InterfaceCall) -> Any:
    """Rows of one date on which `pattern` fired (any direction column when it is not given), upwards (100)
    or downwards (-100) as `direction` says."""
    pattern, direction = call.params.get("pattern"), call.params.get("direction")
    if pattern is not None and pattern not in DIRECTIONS:
        raise call.bad("pattern", f"{pattern[:40]!r} is no direction column of {call.table.name}")
    if direction not in (None, 100, -100):
        raise call.bad("direction", "is 100 or -100")
    day = day_of(session, call)
    if day is None:
        return []
    columns = shown_columns(call)
    rows = rows_of.on_date(session, call.table, day, sort=sort_of(call), as_of=call.as_of, columns=columns)
    if pattern is not None or direction is not None:
        chosen = DIRECTIONS if pattern is None else (pattern,)
        signs = (100, -100) if direction is None else (direction,)
        rows = [row for row in rows if any(row[name] in signs for name in chosen)]
    start = call.params.get("offset", 0)
    return rows[start : start + call.params.get("limit", MOST_ROWS)]
