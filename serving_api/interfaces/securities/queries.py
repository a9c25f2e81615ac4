"""SQL over the master table."""

from collections.abc import Mapping
from typing import Any

from core.declaration.tables import Table
from core.text_keys import search_key
from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows


def matching(
    session: Session,
    table: Table,
    equal: Mapping[str, str],
    keyword: str | None,
    limit: int,
    offset: int,
    as_of: str | None,
) -> list[Row]:
    """Rows with the values of `equal`, and a keyword in code or name, by code."""
    where, values = " AND ".join(f"{column}=?" for column in equal), tuple(equal.values())
    how: dict[str, Any] = {"as_of": as_of, "order": "code"}
    if keyword is None:
        return public_rows(session, table.name, where=where, values=values, limit=limit, offset=offset, **how)
    sought = search_key(keyword)
    listed = session.rows(table.name, columns=("code", "name"), where=where, values=values, **how)
    found = [code for code, name in listed if sought in code.casefold() or sought in search_key(name or "")]
    page = found[offset : offset + limit]
    marks = ", ".join("?" for _ in page)
    return (
        public_rows(session, table.name, where=f"code IN ({marks})", values=tuple(page), **how)
        if page
        else []
    )


def special_treatment(session: Session, table: Table, limit: int, as_of: str | None) -> list[Row]:
    return public_rows(
        session,
        table.name,
        where="is_st=1 AND (list_status IS NULL OR list_status<>'D')",
        as_of=as_of,
        order="code",
        limit=limit,
    )


def listed_between(
    session: Session, table: Table, since: str, until: str, limit: int, as_of: str | None
) -> list[Row]:
    """Stocks with a first day in (since, until], the newest first."""
    return public_rows(
        session,
        table.name,
        where="sec_type='stock' AND list_date>? AND list_date<=?",
        values=(since, until),
        as_of=as_of,
        order="list_date DESC, code",
        limit=limit,
    )
