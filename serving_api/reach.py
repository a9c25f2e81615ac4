"""How far back a stored history reaches: what an answer says where it gives less than was asked for."""

from collections.abc import Awaitable, Sequence
from typing import Any

from pydantic import BaseModel, Field

from serving_api.failures import read_or
from serving_api.parameters import AsOf
from serving_api.reading import Session
from serving_api.state import State

_UNKNOWN = "unknown"
_DATES = {"decision_card": "decision_date"}
"""Tables whose keys are no dates -> the date that reads are by."""
REACH: list[tuple[str, Any]] = [("first_date", str), ("note", str)]
"""The same keys beside `results`, where an answer has an envelope."""


class Reach(BaseModel):
    """Keys of an answer about the past."""

    first_date: str | None = Field(
        default=None, description="first stored date; null where nothing is stored"
    )
    note: str | None = Field(default=None, description="why this is less than was asked for; null: it is not")


def first_date(session: Session, name: str, code: str | None = None, of: str = "code") -> str | None:
    """The first date that a table by date holds; of a `code` (in the column `of`) where one is given."""
    if not session.has(name):
        return None
    table = session.table(name)
    column = table.date_column or _DATES.get(name)
    if column is None:
        return None
    where, values = (f"{of}=?", (code,)) if code is not None else ("", ())
    rows = session.rows(name, columns=(column,), where=where, values=values, order=column, limit=1)
    return str(rows[0][0])[:10] if rows else None


async def reach(
    state: State, table: str, given: int, *, asked: int | None = None, day: str | None = None,
    code: str | None = None, what: str = "trade dates", as_of: AsOf | None = None,
) -> dict[str, Any]:  # fmt: skip
    """`first_date` and `note` of an answer with `given` rows: of the `asked` newest (`what` they are), or of
    the date `day`."""
    return await reach_from(
        state.reading.point(first_date, table, code), given, asked=asked, day=day, what=what, as_of=as_of
    )


async def reach_from(
    first_read: Awaitable[str | None], given: int, *, asked: int | None = None, day: str | None = None,
    what: str = "trade dates", as_of: AsOf | None = None,
) -> dict[str, Any]:  # fmt: skip
    """As `reach`, of a first date that the caller reads."""
    first = await read_or(_UNKNOWN, first_read)
    if first is _UNKNOWN:
        return {"first_date": None, "note": None}
    told = what if as_of is None else f"{what} of that time"
    return {"first_date": first, "note": note_of(first, given, asked, day, told)}


async def reach_of_day(state: State, table: str, day: str | None) -> dict[str, Any]:
    """`first_date` and `note` of an answer about the date `day` (None: the newest), which may hold nothing of
    what was asked for: from the first date on that is its answer, before it nothing is known."""
    (first,) = await _firsts(state, (table,), None)
    if first is _UNKNOWN:
        return {"first_date": None, "note": None}
    given = first is not None and (day is None or day >= first)
    return {"first_date": first, "note": note_of(first, given, day=day)}


async def reach_of_days(
    state: State, tables: Sequence[str], days: int, *, code: str | None = None
) -> dict[str, Any]:
    """`first_date` and `note` of an answer over the `days` newest trade dates: of the table that reaches back
    farthest."""
    firsts = await _firsts(state, tables, code)
    if _UNKNOWN in firsts:
        return {"first_date": None, "note": None}
    first = min((one for one in firsts if one is not None), default=None)
    window = state.calendar.last(days, state.clock.now().date().isoformat())
    given = 0 if first is None else sum(day >= first for day in window)
    return {"first_date": first, "note": note_of(first, given, days)}


async def _firsts(state: State, tables: Sequence[str], code: str | None) -> list[str | None]:
    """`_UNKNOWN` where the database does not answer: then nothing is said about what it holds."""
    return [await read_or(_UNKNOWN, state.reading.point(first_date, name, code)) for name in tables]


def note_of(
    first: str | None, given: int, asked: int | None = None, day: str | None = None, what: str = "trade dates"
) -> str | None:
    """None where the answer is as long as was asked for. Rows without a first date are live ones."""
    if given and (asked is None or given >= asked):
        return None
    if given and first is None:
        return f"the source tells {given} of {asked} {what}; nothing is stored yet"
    if first is None:
        return "nothing is stored yet"
    if day is not None and not given:
        return f"nothing is stored of {day}; the first stored date is {first}"
    if asked is None:
        return f"nothing fits; the first stored date is {first}"
    return f"{given} of {asked} {what} are stored; the first stored date is {first}"
