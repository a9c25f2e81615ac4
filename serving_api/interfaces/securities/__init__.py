"""Interfaces over the list of securities: filtered, searched, under special treatment, newly listed."""

from collections.abc import Mapping
from typing import Any

from core.days import moved
from serving_api.db.sessions import Session
from serving_api.interfaces.call import Executor, Question
from serving_api.interfaces.securities import queries
from serving_api.stocks.directory import Directory
from serving_api.stocks.queries import listings

_FILTERS = ("market", "sec_type", "list_status")


def listed(session: Session, asked: Question) -> Any:
    """Master rows of a market, kind and status whose code or name holds a keyword, a page of them by code."""
    equal = {name: asked.params[name] for name in _FILTERS if asked.params[name] is not None}
    page, size = asked.params["page"], asked.params["page_size"]
    return queries.matching(
        session, asked.table, equal, asked.params["keyword"], size, (page - 1) * size, asked.as_of
    )


def found(session: Session, asked: Question) -> Any:
    """{code, name, market, sec_type, industry} of the hits in code, name and pinyin, best first."""
    if asked.as_of is not None:
        raise asked.bad("as_of", "the search looks at today's names; leave it out")
    hits = Directory.of(listings(session)).find(asked.params["keyword"])
    page, size = asked.params["page"], asked.params["page_size"]
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


def special_treatment(session: Session, asked: Question) -> Any:
    """Master rows of the listed stocks under special treatment, by code."""
    return queries.special_treatment(session, asked.table, asked.params["limit"], asked.as_of)


def young(session: Session, asked: Question) -> Any:
    """Master rows of the stocks that were listed in the last days, the youngest first."""
    until = asked.instant_day
    since = moved(until, -asked.params["days"])
    return queries.listed_between(session, asked.table, since, until, asked.params["limit"], asked.as_of)


EXECUTORS: Mapping[str, Executor] = {
    "securities": listed,
    "security_search": found,
    "special_treatment": special_treatment,
    "young_securities": young,
}
