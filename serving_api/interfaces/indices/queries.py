"""SQL of the members of indices and industries. Every function takes a Session first."""

from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows

MEMBERS = "raw_index_constituent"
_ALL = 20_000


def members(session: Session, index_code: str, provider: str | None = None) -> list[Row]:
    """The newest list of an index, by code."""
    where, values = _of(index_code, provider)
    day = _newest(session, where, values)
    if day is None:
        return []
    return public_rows(
        session, MEMBERS, where=f"{where} AND as_of_date=?", values=(*values, day), order="code", limit=_ALL
    )


def weights(session: Session, index_code: str, limit: int) -> list[Row]:
    """Members of the newest list with weights, the heaviest first."""
    where, values = _of(index_code, None)
    where = f"{where} AND weight_pct IS NOT NULL"
    day = _newest(session, where, values)
    if day is None:
        return []
    return public_rows(
        session,
        MEMBERS,
        where=f"{where} AND as_of_date=?",
        values=(*values, day),
        order="weight_pct DESC, code",
        limit=limit,
    )


def _of(index_code: str, provider: str | None) -> tuple[str, tuple[Any, ...]]:
    if provider is None:
        return "index_code=?", (index_code,)
    return "index_code=? AND provider=?", (index_code, provider)


def _newest(session: Session, where: str, values: tuple[Any, ...]) -> str | None:
    if not session.has(MEMBERS):
        return None
    found = session.rows(
        MEMBERS, columns=("as_of_date",), where=where, values=values, order="as_of_date DESC", limit=1
    )
    return str(found[0][0]) if found else None
