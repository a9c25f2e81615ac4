"""Response models of futures, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class Listed(BaseModel):
    """One contract of a day; points and contracts."""

    symbol: str
    product: str
    name: str | None
    exchange: str
    price: float | None
    change_pct: float | None = Field(description="against the settlement price of the previous day, percent")
    settle: float | None
    volume: int | None
    open_interest: int | None
    is_main: bool | None


class FuturesList(BaseModel):
    items: list[Listed]
    total: int
    date: str | None


class FuturesBar(BaseModel):
    date: str
    open: float | None
    high: float | None
    low: float | None
    close: float | None
    settle: float | None
    volume: int | None
    open_interest: int | None


class FuturesBars(Reach):
    symbol: str
    name: str | None
    items: list[FuturesBar] = Field(description="oldest first")
    total: int
    latestDate: str | None


class BasisDay(BaseModel):
    date: str
    symbol: str
    close: float
    spot: float = Field(description="close of the index")
    basis: float = Field(description="spot - close, points")
    annualised_pct: float | None = Field(description="basis as percent of the spot, annualised")


class Basis(Reach):
    product: str
    items: list[BasisDay] = Field(description="oldest first")
    total: int
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
