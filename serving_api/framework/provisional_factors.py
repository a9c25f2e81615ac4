"""Codes whose adjusted prices rest on a quoted ratio until a source has the ex-right event.

An adjusted answer says so: `factor` is `provisional` while the ledger of ex-rights has an open item of its
code, else `final`; null where nothing is adjusted.
"""

from collections.abc import Collection

from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State

ITEMS = "ref_exright_item"
FACTOR: tuple[str, type] = ("factor", str)
PROVISIONAL, FINAL = "provisional", "final"


def provisional_codes(session: Session, as_of: str | None) -> frozenset[str]:
    """Codes with an item that is open, or that was at a past time."""
    day = None if as_of is None else as_of[:10]
    found = set()
    for code, opened, closed in session.rows(ITEMS, columns=("code", "opened_on", "closed_on")):
        if closed is None if day is None else opened <= day and (closed is None or closed > day):
            found.add(code)
    return frozenset(found)


async def factor_of(state: State, adjust: str, codes: Collection[str], as_of: str | None) -> str | None:
    """`factor` of an answer with prices of some codes."""
    if adjust == "none":
        return None
    nothing: frozenset[str] = frozenset()
    known = await read_or(nothing, state.reading.point(provisional_codes, as_of))
    return PROVISIONAL if known.intersection(codes) else FINAL
