"""Reads of a former code are answered with the code that it became, and say so."""

from typing import Any

from starlette.requests import Request

from serving_api.db.sessions import Session
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State

TABLE = "ref_code_change"
KEY = "renumbered"
"""Top-level key of such an answer: {from, to, date}."""
HEADER = "X-Renumbered"


def changes(session: Session) -> dict[str, tuple[str, str]]:
    """Former code -> (code since then, its first trade date)."""
    rows = session.rows(TABLE, columns=("code", "new_code", "date"))
    return {code: (new, day) for code, new, day in rows}


async def followed(state: State, request: Request) -> dict[str, Any] | None:
    """What the answer says about its code, when the path of a read has a former one: it is replaced there."""
    code = request.path_params.get("code")
    if not isinstance(code, str):
        return None
    version = (await state.versions.version_of((TABLE,))).token
    known: dict[str, tuple[str, str]] | None = state.cache.get(TABLE, "all", version)
    if known is None:
        nothing: dict[str, tuple[str, str]] = {}
        known = await read_or(nothing, state.reading.point(changes))
        if known is not nothing:
            state.cache.put(TABLE, "all", version, known, 64 * (1 + len(known)))
    if code not in known:
        return None
    new, day = known[code]
    request.path_params["code"] = new
    return {"from": code, "to": new, "date": day}
