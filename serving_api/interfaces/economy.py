"""Templates about the economy, futures, and tables of the market that have no codes."""

from collections.abc import Mapping
from typing import Any

from serving_api.db.sessions import Session
from serving_api.futures import queries as futures
from serving_api.interfaces import queries as catalog
from serving_api.interfaces.call import Question, bounds_of
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.macro import queries


def series_latest(session: Session, asked: Question) -> Any:
    """The newest row of each series: of those that are named, of one region, or of all."""
    params = asked.params
    return queries.newest_of_series(session, params["indicators"], params["region"], asked.as_of)


def series_list(session: Session, asked: Question) -> Any:
    """Name, region, category, frequency and unit of every series, with its newest date."""
    return queries.series_names(session, asked.params["region"], asked.as_of)


def bond_yields(session: Session, asked: Question) -> Any:
    """Yields of government bonds by date, oldest first."""
    region = asked.params["region"]
    if region not in queries.REGIONS:
        raise asked.bad("region", f"{region} has no yields; one of {', '.join(queries.REGIONS)} is allowed")
    since, until = bounds_of(asked)
    return queries.yields(session, region, asked.params["limit"], asked.as_of, since, until)


def risk_premium(session: Session, asked: Question) -> Any:
    """Earnings yield of an index above the ten-year yield, by date, oldest first."""
    found = queries.risk_premium(session, asked.params["index_code"], asked.params["limit"], asked.as_of)
    return found["items"]


def releases(session: Session, asked: Question) -> Any:
    """Releases between two days, which may lie ahead, oldest first."""
    since, until = bounds_of(asked)
    params = asked.params
    return queries.releases(
        session, since, until, params["region"], params["importance"], asked.as_of, MOST_ROWS
    )


def rows_of(session: Session, asked: Question) -> Any:
    """The newest rows with the value of the first parameter, of a table without codes, oldest first."""
    since, until = bounds_of(asked)
    for name, day in (("start_date", since), ("end_date", until)):
        if day is not None and day > asked.today:
            raise asked.bad(name, f"{day} lies in the future")
    value = asked.params[next(iter(asked.interface.params))]
    rows = catalog.in_range(
        session, asked.table, value, since=since, until=until, limit=asked.params["limit"], as_of=asked.as_of
    )
    return rows[::-1]


def contract_bars(session: Session, asked: Question) -> Any:
    """Rows of a futures contract, or of the main contracts of a product, oldest first."""
    since, until = bounds_of(asked)
    for name, day in (("start_date", since), ("end_date", until)):
        if day is not None and day > asked.today:
            raise asked.bad(name, f"{day} lies in the future")
    return futures.bars(session, asked.code, asked.params["limit"], since, until)


EXECUTORS: Mapping[str, Any] = {
    "series_latest": series_latest,
    "series_list": series_list,
    "bond_yields": bond_yields,
    "risk_premium": risk_premium,
    "releases": releases,
    "rows_of": rows_of,
    "contract_bars": contract_bars,
}
