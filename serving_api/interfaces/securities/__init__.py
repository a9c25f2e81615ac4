"""Interfaces over the list of securities: filters, search, special treatment, new listings."""

from collections.abc import Mapping
from typing import Any

from core.days import moved
from serving_api.db.sessions import Session
from serving_api.interfaces.call import Executor, InterfaceCall
from serving_api.interfaces.securities import queries
from serving_api.stocks.directory import Directory
from serving_api.stocks.queries import listings

_FILTERS = ("market", "sec_type", "list_status")


def listed(session: Session, call: InterfaceCall) -> Any:
    """Master rows of a market, kind and status whose code or name contains a keyword, one page ordered by
    code."""
    equal = {name: call.params[name] for name in _FILTERS if call.params[name] is not None}
    page, size = call.params["page"], call.params["page_size"]
    return queries.matching(
        session, call.table, equal, call.params["keyword"], size, (page - 1) * size, call.as_of
    )


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
    return queries.special_treatment(session, call.table, call.params["limit"], call.as_of)


def young(session: Session, call: InterfaceCall) -> Any:
    """Master rows of the stocks that were listed in the last days, the newest first."""
    until = call.instant_day
    since = moved(until, -call.params["days"])
    return queries.listed_between(session, call.table, since, until, call.params["limit"], call.as_of)


EXECUTORS: Mapping[str, Executor] = {
    "securities": listed,
    "security_search": found,
    "special_treatment": special_treatment,
    "young_securities": young,
}
