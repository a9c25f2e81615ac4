"""Columns that many reports of the data centre have, and tables of columns."""

from collections.abc import Callable
from operator import attrgetter

from simulated_market.wire import Row
from simulated_market.world.model import Security


def columns(table: str) -> Callable[[object], Row]:
    """What makes the columns of an object by a table of words `COLUMN=attribute`, in the order of the wire.
    `report.revenue` is an attribute of an attribute."""
    values = {name: attrgetter(path) for name, _, path in (word.partition("=") for word in table.split())}
    return lambda one: {name: value(one) for name, value in values.items()}


def identity(security: Security, name: str | None = None, *, code_first: bool = False) -> Row:
    """The columns that name a security. Reports have its code before or after the code with the market, and
    some have no name."""
    row = {"SECUCODE": secucode(security), "SECURITY_CODE": security.code}
    if code_first:
        row = dict(reversed(row.items()))
    return row if name is None else {**row, "SECURITY_NAME_ABBR": name}


def secucode(security: Security) -> str:
    return f"{security.code}.{security.market}"


SHARE = "058001001"
"""SECURITY_TYPE_CODE of an A share."""

TRADE_MARKETS = {
    "main": ("069001001001", "069001002001"),
    "star": ("069001001006", ""),
    "gem": ("", "069001002002"),
    "bj": ("069001017", "069001017"),
}
"""Board -> TRADE_MARKET_CODE at Shanghai, and elsewhere."""


def trade_market(security: Security) -> str:
    return TRADE_MARKETS[security.board][security.market != "SH"]
