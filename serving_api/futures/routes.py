"""/futures/*: open to anyone, plain. Fixed paths are declared before `/{symbol}`."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach_from
from serving_api.framework.openapi import IsoDate
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, with_columns
from serving_api.futures import queries
from serving_api.futures.queries import BAR, LISTED
from serving_api.table_lists import DatedRows, TradeDay, no_rows


@with_columns(*LISTED)
class Listed(BaseModel):
    """One contract of a day."""

    change_pct: float | None = Field(description="against the settlement price of the previous day, percent")


class FuturesList(Rows[Listed]):
    date: IsoDate | None


@with_columns(*BAR)
class FuturesBar(BaseModel):
    """One date."""


class FuturesBars(Reach, Rows[FuturesBar]):
    """Oldest first."""

    symbol: str
    name: str | None
    latestDate: str | None


class BasisDay(BaseModel):
    date: IsoDate
    symbol: str
    close: float
    spot: float = Field(description="close of the index")
    basis: float = Field(description="spot - close, points")
    annualised_pct: float | None = Field(description="basis as percent of the spot, annualised")


class Basis(DatedRows[BasisDay]):
    product: str


class Position(BaseModel):
    rank: int
    broker: str
    volume: int
    change: int


class Positions(BaseModel):
    symbol: str
    date: IsoDate | None
    long: list[Position]
    short: list[Position]
    available: bool
    reason: str


router = area_router(f"{PREFIX}/futures", "futures")

NO_POSITIONS = "会员持仓排名没有有文档的来源，本平台不提供"
Symbol = Annotated[
    str, Path(pattern=r"^[A-Za-z]{1,3}[0-9]{0,4}F?$", description="contract (au2612) or product (au)")
]
Exchange = Literal["CFFEX", "SHFE", "INE", "DCE", "CZCE", "GFEX"]


@router.get("/list", response_model=FuturesList)
@serves(tables=(queries.FUTURES,))
async def futures_list(
    call: Anyone,
    exchange: Annotated[Exchange | None, Query(description="default all")] = None,
    main_only: Annotated[
        bool, Query(description="only the contract of each product with the largest open interest")
    ] = True,
) -> Answer:
    """Contracts of the newest date, by exchange and product."""
    read = call.state.reading.scan(queries.listed, exchange, main_only)
    return Answer(await read_or(no_rows(None), read))


@router.get("/basis", response_model=Basis)
@serves(tables=(queries.FUTURES, queries.INDEX))
async def basis(
    call: Anyone,
    product: Annotated[str, Query(pattern=r"^[A-Za-z]{1,3}$", description="letters of the product")] = "IF",
    days: Annotated[int, Query(ge=1, le=2000, description="newest dates")] = 120,
) -> Answer:
    """The basis of the main contract of an index future by date, oldest first."""
    nothing = queries.basis_of(product, [], "the database is away")
    found = await read_or(nothing, call.state.reading.scan(queries.basis, product, days))
    first = call.state.reading.point(queries.first_basis, product)
    history = await reach_from(first, found["total"], asked=days)
    if history["note"] is not None and "reason" in found:
        history["note"] = found["reason"]  # more useful than how far back the rows reach
    return Answer({**found, **history})


@router.get("/{symbol}/kline", response_model=FuturesBars)
@serves(tables=(queries.FUTURES,))
async def kline(
    call: Anyone,
    symbol: Symbol,
    days: Annotated[int, Query(ge=30, le=2000, description="newest dates")] = 250,
) -> Answer:
    """Bars of a contract, or of a product's main contract of each date, oldest first."""
    reading = call.state.reading
    found = await read_or(queries.kline_of(symbol, []), reading.scan(queries.kline, symbol, days))
    history = await reach_from(reading.point(queries.first_bar, symbol), found["total"], asked=days)
    return Answer({**found, **history})


@router.get("/{symbol}/positions", response_model=Positions)
async def positions(call: Anyone, symbol: Symbol, date: TradeDay) -> Answer:
    """Positions of the exchange's members: no documented source has them, and the answer says so."""
    empty: dict[str, Any] = {"symbol": symbol, "date": date, "long": [], "short": []}
    return Answer({**empty, "available": False, "reason": NO_POSITIONS})
