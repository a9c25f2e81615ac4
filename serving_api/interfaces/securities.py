"""Interfaces over the list of securities: filters, search, special treatment, new listings."""

from typing import Any, TypedDict

from core.days import moved
from core.text_keys import search_key
from resources.warehouse.stored import ANY, matching
from serving_api.db.rows import public_rows
from serving_api.db.sessions import Session
from serving_api.interfaces.call import InterfaceCall
from serving_api.stocks.directory import Directory
from serving_api.stocks.queries import listings


class _Order(TypedDict):
    as_of: str | None
    order: list[str]


_FILTERS = ("market", "sec_type", "list_status")


def securities(session: Session, call: InterfaceCall) -> Any:
    """Master rows of a market, kind and status with a keyword in code or name: a page, ordered by code."""
    of = [condition for name in _FILTERS for condition in matching(ANY[name], call.params[name])]
    name, size, keyword = call.table.name, call.params["page_size"], call.params["keyword"]
    begin = (call.params["page"] - 1) * size
    how: _Order = {"as_of": call.as_of, "order": ["code"]}
    if keyword is None:
        return public_rows(session, name, *of, limit=size, offset=begin, **how)
    sought = search_key(keyword)
    listed = session.rows(name, *of, columns=("code", "name"), **how)
    found = [code for code, name in listed if sought in code.casefold() or sought in search_key(name or "")]
    page = found[begin : begin + size]
    return public_rows(session, name, ANY.code.in_(page), **how) if page else []


def security_search(session: Session, call: InterfaceCall) -> Any:
    """{code, name, market, sec_type, industry} of matches in code, name and pinyin, best first."""
    if call.as_of is not None:
        raise call.bad("as_of", "the search looks at today's names; leave it out")
    hits = Directory.of(listings(session)).find(call.params["keyword"])
    page, size = call.params["page"], call.params["page_size"]
    shown = hits[(page - 1) * size : page * size]
    return [
        {
            "code": hit.code, "name": hit.name, "market": hit.market, "sec_type": hit.sec_type,
            "industry": hit.industry,
        }
        for hit in shown
    ]  # fmt: skip


def special_treatment(session: Session, call: InterfaceCall) -> Any:
    """Master rows of the listed stocks under special treatment, by code."""
    status, limit = ANY.list_status, call.params["limit"]
    where = [ANY.is_st == 1, status.is_(None) | status.not_in(("D", "R"))]
    return public_rows(session, call.table.name, *where, as_of=call.as_of, order=["code"], limit=limit)


def young_securities(session: Session, call: InterfaceCall) -> Any:
    """Master rows of the stocks that were listed in the last days, the newest first."""
    until, limit = call.instant_day, call.params["limit"]
    of = [ANY.sec_type == "stock", ANY.list_date > moved(until, -call.params["days"]), ANY.list_date <= until]
    order = [ANY.list_date.desc(), ANY.code]
    return public_rows(session, call.table.name, *of, as_of=call.as_of, order=order, limit=limit)
