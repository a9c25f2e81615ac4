"""/convertible-bond/*: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.convertible_bond import ConvertibleBond
from platform_assets.datasets.quote_snapshot import QuoteSnapshot
from resources.warehouse.stored import matching, within
from serving_api.bonds import queries
from serving_api.bonds.queries import LEAVING, TABLE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach_from
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import PageOf, Rows, columns, with_columns
from serving_api.stocks.queries import KLINE, QUOTE
from serving_api.table_lists import Page, PageSize, Sort, TradeDay, page_of


@with_columns(*columns(ConvertibleBond))
class BondRow(BaseModel):
    """A convertible bond on one trade date."""


class BondPage(Reach, PageOf[BondRow]):
    date: IsoDate | None


@with_columns(*LEAVING)
class LeavingBond(BaseModel):
    """A bond that may be called, or matures soon."""

    reason: str


class BondOverview(BaseModel):
    """Figures of the newest stored date."""

    date: IsoDate | None
    count: int
    median_price: float | None
    median_premium_pct: float | None
    amount_yi: float | None = Field(description="turnover of all bonds, 100m CNY")
    up: int
    down: int
    redeem_soon: list[LeavingBond] = Field(
        description="the stock is above the trigger of a call, or the bond matures within 180 days"
    )
    low_price_count: int = Field(description="bonds below 100 CNY")


@with_columns(
    QuoteSnapshot.code.or_null(), QuoteSnapshot.name, QuoteSnapshot.price.or_null(), QuoteSnapshot.change_pct
)
class BondStock(BaseModel):
    """The stock that a bond converts into, at its last close."""


class Bond(BaseModel):
    """{} for an unknown code."""

    code: str | None = None
    info: dict[str, Any] | None = Field(default=None, description="terms")
    latest: dict[str, Any] | None = Field(default=None, description="the newest row")
    stock: BondStock | None = None


@with_columns(
    ConvertibleBond.trade_date.label("date"), ConvertibleBond.premium_pct, ConvertibleBond.convert_value,
    ConvertibleBond.double_low,
)  # fmt: skip
class BondDay(BaseModel):
    """One trade date."""

    close: float | None


class BondHistory(Reach, Rows[BondDay]):
    """Oldest first."""

    code: str


class BondEvent(BaseModel):
    date: IsoDate | None
    type: str = Field(description="上市, 到期, 强赎 or 公告")
    title: str


class BondEvents(Rows[BondEvent]):
    """Newest first."""

    code: str


router = area_router(f"{PREFIX}/convertible-bond", "convertible bonds")

_INFO = (
    "name", "stock_code", "stock_name", "rating", "list_date", "maturity_date", "convert_price",
    "putback_price", "force_redeem_price", "remain_size_yi", "redeem_status",
)  # fmt: skip


@router.get("/list", response_model=BondPage)
@serves(tables=(queries.TABLE,))
async def bond_list(
    call: Anyone,
    date: TradeDay,
    sort: Sort = "double_low",
    rating: Annotated[str | None, Query(min_length=1, max_length=8, description="AAA, AA+, AA ...")] = None,
    max_premium: Annotated[float | None, Query(ge=-100, le=10_000, description="percent")] = None,
    page: Page = 1,
    page_size: PageSize = 50,
) -> Answer:
    """Convertible bonds on one trade date, cheap ones with a low premium first."""
    bounds = [*matching(TABLE.c.rating, rating), *within(TABLE.c.premium_pct, None, max_premium)]
    return Answer(await page_of(call.state, TABLE, date, sort, page, page_size, *bounds))


@router.get("/overview", response_model=BondOverview)
@serves(tables=(queries.TABLE,))
async def bond_overview(call: Anyone) -> Answer:
    """The market of convertible bonds on the newest trade date."""
    return Answer(await read_or(queries.overview_of([], None), call.state.reading.scan(queries.overview)))


@router.get("/{code}", response_model=Bond)
@serves(tables=(queries.TABLE, QUOTE))
async def bond(call: Anyone, code: StockCode) -> Answer:
    """One convertible bond: terms, newest row and its stock."""
    row, quote = await read_or(({}, {}), call.state.reading.point(queries.of_code, code))
    if not row:
        return Answer({})
    stock = {
        "code": row["stock_code"],
        "name": quote.get("name") or row["stock_name"],
        "price": quote.get("price") or row["stock_price"],
        "change_pct": quote.get("change_pct"),
    }
    info = {name: row[name] for name in _INFO}
    return Answer({"code": code, "info": info, "latest": row, "stock": stock})


@router.get("/{code}/history", response_model=BondHistory)
@serves(tables=(queries.TABLE, KLINE))
async def bond_history(
    call: Anyone,
    code: StockCode,
    days: Annotated[int, Query(ge=30, le=2000, description="newest trade dates")] = 250,
) -> Answer:
    """Price, premium and conversion value by trade date, oldest first."""
    items = await read_or([], call.state.reading.point(queries.history, code, days))
    reported = await reach_from(call.state.reading.point(queries.first_of, code), len(items), asked=days)
    return Answer({"code": code, "items": items, "total": len(items), **reported})


@router.get("/{code}/events", response_model=BondEvents)
@serves(tables=(queries.TABLE, queries.NOTICES))
async def bond_events(call: Anyone, code: StockCode) -> Answer:
    """Past and future events of a bond, newest first. Titles are text from outside: escape them."""
    items = await read_or([], call.state.reading.point(queries.events, code))
    return Answer({"code": code, "items": items, "total": len(items)})
