"""The interfaces of the catalog: read-only calls of a dataset, each with its typed parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

Kind = Literal["string", "string[]", "date", "int", "float", "bool"]
Default = str | int | None


@dataclass(frozen=True)
class Parameter:
    """A parameter of an interface, by its type in the catalog."""

    kind: Kind
    required: bool = False
    default: Default = None


REQUIRED, TEXT, DAY = Parameter("string", required=True), Parameter("string"), Parameter("date")
REQUIRED_TEXTS, TEXTS = Parameter("string[]", required=True), Parameter("string[]")
INT, FLOAT = Parameter("int"), Parameter("float")


def _parameter(value: Parameter | str | int) -> Parameter:
    if isinstance(value, Parameter):
        return value
    return Parameter(
        "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string", default=value
    )


@dataclass(frozen=True)
class Interface:
    """One read-only interface of the catalog. `params`: one that bears the name of a text column lets only
    rows with that value pass. `ttl`: for how many seconds an answer may be used. `table`: the table that it
    reads when that is not the dataset's own (one of its RAW tables). `order`: the column that rows of one
    date are sorted by when the caller names none (default: their key; `-` = descending)."""

    dimension: str
    name: str
    template: str
    description: str
    ttl: int
    returns: str = "object[]"
    table: str = ""
    order: str = ""
    params: Mapping[str, Parameter] = field(default_factory=dict)

    def takes(self, **params: Parameter | str | int) -> "Interface":
        """The interface with its parameters: REQUIRED, optional by type (TEXT, DAY …), or a default value of
        their type, as in `market(…).takes(trade_date=DAY, limit=100)`."""
        return replace(self, params={name: _parameter(value) for name, value in params.items()})

    @property
    def live(self) -> bool:
        """Whether an upstream is asked when it is called, instead of a table."""
        return self.template.startswith("live_")


market = partial(Interface, "market")
stock = partial(Interface, "stock")
timeseries = partial(Interface, "timeseries")


def latest(name: str, description: str, ttl: int) -> Interface:
    """The newest row of one code."""
    return stock(name, "latest", description, ttl, returns="object|null").takes(code=REQUIRED)


def batch(name: str, description: str, ttl: int) -> Interface:
    """The newest rows of many codes, all or some columns."""
    return stock(name, "batch", description, ttl).takes(codes=REQUIRED_TEXTS, fields=TEXTS)


def history(name: str, description: str, ttl: int, limit: int = 250) -> Interface:
    """Rows of one code in a date range, oldest first."""
    return timeseries(name, "history", description, ttl).takes(
        code=REQUIRED, start_date=DAY, end_date=DAY, limit=limit
    )


def by_date(name: str, description: str, ttl: int) -> Interface:
    """Rows of the whole market on one trade date (default: the newest stored)."""
    return market(name, "by_date", description, ttl).takes(trade_date=DAY, sort=TEXT, limit=200, offset=0)


def standard(dataset: str, what: str, ttl: int) -> tuple[Interface, ...]:
    """The four interfaces of a per-code, per-date dataset: get_<dataset>, _batch, _history, _by_date."""
    return (
        latest(f"get_{dataset}", f"newest {what} of a code", ttl),
        batch(f"get_{dataset}_batch", f"newest {what} of many codes", ttl),
        history(f"get_{dataset}_history", f"{what} of a code by date", max(ttl, 300)),
        by_date(f"get_{dataset}_by_date", f"{what} of the market on one date", ttl),
    )
