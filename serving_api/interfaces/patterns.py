"""Chart patterns of a day."""

from typing import Any

from platform_assets.compute.parameters.patterns import DIRECTIONS
from serving_api.db.sessions import Session
from serving_api.interfaces import queries
from serving_api.interfaces.call import InterfaceCall, columns_of, day_of, sort_of
from serving_api.interfaces.parameters import MOST_ROWS

WHOLE_MARKET = 20_000


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
    rows = queries.on_date(
        session,
        call.table,
        day,
        sort=sort_of(call),
        limit=WHOLE_MARKET,
        offset=0,
        as_of=call.as_of,
        columns=columns_of(call),
    )
    if pattern is not None or direction is not None:
        chosen = DIRECTIONS if pattern is None else (pattern,)
        signs = (100, -100) if direction is None else (direction,)
        rows = [row for row in rows if any(row[name] in signs for name in chosen)]
    start = call.params.get("offset", 0)
    return rows[start : start + call.params.get("limit", MOST_ROWS)]
