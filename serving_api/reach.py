"""How far back a stored history reaches: what an answer says where it gives less than was asked for."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.failures import read_or
from serving_api.reading import Session
from serving_api.state import State


class Reach(BaseModel):
    """Keys of an answer about the past."""

    first_date: str | None = Field(
        default=None, description="first stored date; null where nothing is stored"
    )
    note: str | None = Field(default=None, description="why this is less than was asked for; null: it is not")


def first_date(session: Session, name: str, code: str | None = None) -> str | None:
    """The first date that a table by date holds, of a code where one is given."""
    if not session.has(name):
        return None
    table = session.table(name)
    column = str(table.date_column)
    where, values = ("code=?", (code,)) if code is not None else ("", ())
    rows = session.rows(name, columns=(column,), where=where, values=values, order=column, limit=1)
    return str(rows[0][0])[:10] if rows else None


async def reach(
    state: State, table: str, given: int, *, asked: int | None = None, day: str | None = None,
    code: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """`first_date` and `note` of an answer with `given` rows: of the `asked` newest trade dates, or of the
    date `day`."""
    first = await read_or(None, state.reading.point(first_date, table, code))
    return {"first_date": first, "note": note_of(first, given, asked, day)}


def note_of(first: str | None, given: int, asked: int | None = None, day: str | None = None) -> str | None:
    """None where the answer is as long as was asked for."""
    if given and (asked is None or given >= asked):
        return None
    if first is None:
        return "nothing is stored yet"
    if day is not None and not given:
        return f"nothing is stored of {day}; the first stored date is {first}"
    if asked is None:
        return f"nothing fits; the first stored date is {first}"
    return f"{given} of {asked} trade dates are stored; the first stored date is {first}"
