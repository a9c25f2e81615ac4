"""Interfaces over the list of securities: filters, search, special treatment, new listings."""

from collections.abc import Mapping
from typing import Any

from core.days import moved
from core.declaration.tables import Table
from core.text_keys import search_key
from serving_api.db.sessions import Session
from serving_api.interfaces.call import Executor, InterfaceCall
from serving_api.interfaces.queries import Row, public_rows
from serving_api.stocks.directory import Directory
from serving_api.stocks.queries import listings


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


def rows_under_special_treatment(session: Session, table: Table, limit: int, as_of: str | None) -> list[Row]:
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


_FILTERS = ("market", "sec_type", "list_status")


def listed(session: Session, call: InterfaceCall) -> Any:
    """Master rows of a market, kind and status whose code or name contains a keyword, one page ordered by
    code."""
    equal = {name: call.params[name] for name in _FILTERS if call.params[name] is not None}
    page, size = call.params["page"], call.params["page_size"]
    return matching(session, call.table, equal, call.params["keyword"], size, (page - 1) * size, call.as_of)


def found(session: Session, call: InterfaceCall) -> Any:
    """{code, name, market, sec_type, industry} of matches in code, name and pinyin, best first."""
    if call.as_of is not None:
        raise call.bad("as_of", "the search looks at today's names; leave it out")
    hits = Directory.of(listings(session)).find(call.params["keyword"])
    page, size = call.params["page"], call.params["page_size"]
    return [
        {
            "code": hit.code,
            "name": hit.name,
            "market": hit.market,
            "sec_type": hit.sec_type,
            "industry": hit.industry,
        }
        for hit in hits[(page - 1) * size : page * size]
    ]


def special_treatment(session: Session, call: InterfaceCall) -> Any:
    """Master rows of the listed stocks under special treatment, by code."""
    return rows_under_special_treatment(session, call.table, call.params["limit"], call.as_of)


def young(session: Session, call: InterfaceCall) -> Any:
    """Master rows of the stocks that were listed in the last days, the newest first."""
    until = call.instant_day
    since = moved(until, -call.params["days"])
    return listed_between(session, call.table, since, until, call.params["limit"], call.as_of)


EXECUTORS: Mapping[str, Executor] = {
    "securities": listed,
    "security_search": found,
    "special_treatment": special_treatment,
    "young_securities": young,
}
