"""Response models of futures, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import Rows, columns_of
from serving_api.futures.queries import BAR, FUTURES, LISTED


@columns_of(FUTURES, LISTED)
class Listed(BaseModel):
    """One contract of a day."""

    change_pct: float | None = Field(description="against the settlement price of the previous day, percent")


class FuturesList(Rows[Listed]):
    date: str | None


@columns_of(FUTURES, BAR)
class FuturesBar(BaseModel):
    """One date."""


class FuturesBars(Reach, Rows[FuturesBar]):
    """Oldest first."""

    symbol: str
    name: str | None
    latestDate: str | None


class BasisDay(BaseModel):
    date: str
    symbol: str
    close: float
    spot: float = Field(description="close of the index")
    basis: float = Field(description="spot - close, points")
    annualised_pct: float | None = Field(description="basis as percent of the spot, annualised")


class Basis(Reach, Rows[BasisDay]):
    """Oldest first."""

    product: str
    latestDate: str | None
    available: bool
    reason: str | None = None


class Position(BaseModel):
    rank: int
    broker: str
    volume: int
    change: int


class Positions(BaseModel):
    symbol: str
    date: str | None
    long: list[Position]
    short: list[Position]
    available: bool
    reason: str
