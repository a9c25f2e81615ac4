"""How far back a stored history reaches: what an answer says where it gives less than was asked for."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from core.calendar import CalendarHorizon
from resources.warehouse.stored import ANY, Where, matching
from serving_api.db.first_dates import first_date
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOf
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State

_UNKNOWN = "unknown"
_NOTHING = "nothing is stored yet"
_SILENT = {"first_date": None, "note": None}
REACH: list[tuple[str, Any]] = [("first_date", str), ("note", str)]
"""The same keys next to `results`, where an answer has an envelope."""


class Reach(BaseModel):
    """Keys of an answer about the past."""

    first_date: IsoDate | None = Field(
        default=None, description="first stored date; null where nothing is stored"
    )
    note: str | None = Field(default=None, description="why this is less than was asked for; null: it is not")


async def reach(
    state: State, table: str, given: int, *where: Where, asked: int | None = None, day: str | None = None,
    code: str | None = None, what: str = "trade dates", as_of: AsOf | None = None,
) -> dict[str, Any]:  # fmt: skip
    """`first_date` and `note` of an answer with `given` rows: of the `asked` newest (`what` they are), or of
    the date `day`. `first_date` is of a `code`, or of the rows that meet the conditions."""
    first = state.reading.point(first_date, table, *matching(ANY.code, code), *where)
    return await reach_from(first, given, asked=asked, day=day, what=what, as_of=as_of)


async def reach_from(
    first_read: Awaitable[str | None], given: int, *, asked: int | None = None, day: str | None = None,
    what: str = "trade dates", as_of: AsOf | None = None,
) -> dict[str, Any]:  # fmt: skip
    """As `reach`, of a first date that the caller reads."""
    first = await read_or(_UNKNOWN, first_read)
    if first is _UNKNOWN:
        return dict(_SILENT)
    things = what if as_of is None else f"{what} of that time"
    return {"first_date": first, "note": note_of(first, given, asked, day, things)}


async def reach_of_codes(
    state: State, table: str, counts: Mapping[str, int], asked: int, *, what: str, as_of: AsOf | None = None
) -> dict[str, Any]:
    """`first_date` (the earliest of them) and `note` of an answer with the newest rows of some codes, which
    holds so many (`counts`) of each."""
    first = await read_or(_UNKNOWN, state.reading.scan(first_date, table, ANY.code.in_(tuple(counts))))
    if first is _UNKNOWN:
        return dict(_SILENT)
    few = [code for code, count in counts.items() if count < asked]
    things = what if as_of is None else f"{what} of that time"
    short = f"fewer than {asked} {things} are stored of {', '.join(few)}; the first stored date is {first}"
    return {"first_date": first, "note": _NOTHING if first is None else short if few else None}


async def reach_since(
    state: State, table: str, given: int, since: str, *, code: str | None = None
) -> dict[str, Any]:
    """`first_date` and `note` of an answer with the `given` rows from the day `since` on: it is shorter than
    what was asked for where a trade date lies between that day and the first stored one."""
    first = await read_or(_UNKNOWN, state.reading.point(first_date, table, *matching(ANY.code, code)))
    if first is _UNKNOWN:
        return dict(_SILENT)
    note = note_of(first, given)
    if note is None and first is not None and first > _trade_date_from(state, since):
        note = f"asked from {since}; the first stored date is {first}"
    return {"first_date": first, "note": note}


def _trade_date_from(state: State, day: str) -> str:
    try:
        return state.calendar.on_or_after(day)
    except CalendarHorizon:
        return day


async def reach_of_day(state: State, table: str, day: str | None, *where: Where) -> dict[str, Any]:
    """`first_date` and `note` of an answer about the date `day` (None: the newest), which may hold nothing of
    what was asked for: from the first date on that is its answer, before it nothing is known."""
    # A part of the key is a walk over all of its rows.
    read = state.reading.scan if where else state.reading.point
    first = await read_or(_UNKNOWN, read(first_date, table, *where))
    if first is _UNKNOWN:
        return dict(_SILENT)
    given = first is not None and (day is None or day >= first)
    return {"first_date": first, "note": note_of(first, given, day=day)}


async def reach_of_days(
    state: State, tables: Sequence[str], days: int, *, code: str | None = None
) -> dict[str, Any]:
    """`first_date` and `note` of an answer over the `days` newest trade dates: of the table that reaches back
    farthest."""
    firsts = await _firsts(state, tables, code)
    if _UNKNOWN in firsts:
        return dict(_SILENT)
    first = min((one for one in firsts if one is not None), default=None)
    window = state.calendar.last(days, state.today)
    given = 0 if first is None else sum(day >= first for day in window)
    return {"first_date": first, "note": note_of(first, given, days)}


async def _firsts(state: State, tables: Sequence[str], code: str | None) -> list[str | None]:
    """`_UNKNOWN` where the database does not answer: then nothing is said about what it holds."""
    own = matching(ANY.code, code)
    return [await read_or(_UNKNOWN, state.reading.point(first_date, name, *own)) for name in tables]


def note_of(
    first: str | None, given: int, asked: int | None = None, day: str | None = None, what: str = "trade dates"
) -> str | None:
    """None where the answer is as long as was asked for. Rows without a first date are live ones."""
    if given and (asked is None or given >= asked):
        return None
    if given and first is None:
        return f"the source has {given} of {asked} {what}; nothing is stored yet"
    if first is None:
        return _NOTHING
    if day is not None and not given:
        return f"nothing is stored of {day}; the first stored date is {first}"
    if asked is None:
        return f"nothing fits; the first stored date is {first}"
    return f"{given} of {asked} {what} are stored; the first stored date is {first}"
