"""Interfaces about the economy, futures, and market tables without codes."""

from typing import Any

from serving_api.db import rows as catalog
from serving_api.db.sessions import Session
from serving_api.futures import queries as futures
from serving_api.interfaces.call import InterfaceCall, bounds_of, past_bounds_of
from serving_api.interfaces.parameters import MOST_ROWS
from serving_api.macro import queries


def series_latest(session: Session, call: InterfaceCall) -> Any:
    """The newest row of each series: of the named ones, of one region, or of all."""
    params = call.params
    return queries.newest_of_series(session, params["indicators"], params["region"], call.as_of)


def series_list(session: Session, call: InterfaceCall) -> Any:
    """Name, region, category, frequency and unit of every series, with its newest date."""
    return queries.series_names(session, call.params["region"], call.as_of)


def bond_yields(session: Session, call: InterfaceCall) -> Any:
    """Yields of government bonds by date, oldest first."""
    region = call.params["region"]
    if region not in queries.REGIONS:
        raise call.bad("region", f"{region} has no yields; one of {', '.join(queries.REGIONS)} is allowed")
    since, until = bounds_of(call)
    return queries.yields(session, region, call.params["limit"], call.as_of, since, until)


def risk_premium(session: Session, call: InterfaceCall) -> Any:
    """Earnings yield of an index above the ten-year yield, by date, oldest first."""
    found = queries.risk_premium(session, call.params["index_code"], call.params["limit"], call.as_of)
    return found["items"]


def releases(session: Session, call: InterfaceCall) -> Any:
    """Releases between two days, which may be in the future, oldest first."""
    since, until = bounds_of(call)
    params = call.params
    return queries.releases(
        session, since, until, params["region"], params["importance"], call.as_of, MOST_ROWS
    )


def rows_of(session: Session, call: InterfaceCall) -> Any:
    """The newest rows with the value of the first parameter, of a table without codes, oldest first."""
    since, until = past_bounds_of(call)
    value = call.params[next(iter(call.interface.params))]
    rows = catalog.in_range(
        session, call.table, value, since=since, until=until, limit=call.params["limit"], as_of=call.as_of
    )
    return rows[::-1]


def contract_bars(session: Session, call: InterfaceCall) -> Any:
    """Rows of a futures contract, or of the main contracts of a product, oldest first."""
    since, until = past_bounds_of(call)
    return futures.bars(session, call.code, call.params["limit"], since, until)
