"""/reit/* and /fusion/fund/*: open to anyone, plain."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from platform_assets.datasets.reit import Reit
from resources.warehouse.stored import stored
from serving_api.db.first_dates import first_date
from serving_api.db.rows import Row, newest
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach, reach_from
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import Adjust, AsOfRead, StockCode, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import Rows, columns, with_columns
from serving_api.stocks import queries as stocks
from serving_api.stocks.bars import adjusted
from serving_api.stocks.queries import KLINE
from serving_api.stocks.schemas import KBar
from serving_api.table_lists import Sort, listing, newest_rows, no_rows

reit_router = area_router(f"{PREFIX}/reit", "REITs")
fund_router = area_router(f"{PREFIX}/fusion/fund", "funds")

REIT = stored("raw_reit")
ETF = stored("raw_fund_etf")
KINDS = ("etf", "lof")
Days = Annotated[int, Query(ge=30, le=2000, description="newest trade dates")]
_INFO = ("name", "asset_type", "list_date", "total_shares")


@with_columns(*columns(Reit))
class ReitRow(BaseModel):
    """A REIT on one trade date."""


class ReitList(Rows[ReitRow]):
    date: IsoDate | None


class OneReit(BaseModel):
    code: str
    name: str | None
    latest: dict[str, Any] = Field(description="the newest row; {} for an unknown code")
    info: dict[str, Any] = Field(description="what does not change from day to day")


class ReitBar(KBar):
    premium_pct: float | None = Field(
        default=None, description="over the net asset value; null where none is stored"
    )


class ReitHistory(Reach, Rows[ReitBar]):
    """Oldest first."""

    code: str
    adjust: Literal["none", "qfq", "hfq"]
    as_of: str | None = None


class EtfBars(Reach, Rows[KBar]):
    """Oldest first."""

    code: str
    name: str | None
    adjust: Literal["none", "qfq", "hfq"]
    source: str | None = Field(alias="_source", description="fusion, or null where nothing is stored")
    as_of: str | None = None


@reit_router.get("/list", response_model=ReitList)
@serves(tables=(REIT,))
async def reit_list(call: Anyone, sort: Sort = "-change_pct") -> Answer:
    """Every REIT on the newest trade date."""
    return Answer(await read_or(no_rows(None), call.state.reading.scan(listing, REIT, None, sort)))


@reit_router.get("/{code}", response_model=OneReit)
@serves(tables=(REIT,))
async def one_reit(call: Anyone, code: StockCode) -> Answer:
    """One REIT: its newest row and its constant properties."""
    row = await read_or({}, call.state.reading.point(newest_reit, code))
    info = {name: row[name] for name in _INFO} if row else {}
    return Answer({"code": code, "name": row.get("name"), "latest": row, "info": info})


@reit_router.get("/{code}/history", response_model=ReitHistory)
@serves(tables=(REIT, KLINE))
async def reit_history(
    call: Anyone, code: StockCode, as_of: AsOfRead, days: Days = 250, adjust: Adjust = "none"
) -> Answer:
    """Daily bars of a REIT with its premium, oldest first."""
    items = await read_or([], call.state.reading.point(reit_bars, code, days, adjust, bound_of(as_of)))
    first = call.state.reading.point(first_of_reit, code)
    history = await reach_from(first, len(items), asked=days, what="bars", as_of=as_of)
    answer = {"code": code, "adjust": adjust, "items": items, "total": len(items), **history}
    return Answer(answer, top=echo_of(as_of))


@fund_router.get("/etf-kline/{etf_code}", response_model=EtfBars)
@serves(tables=(KLINE, ETF))
async def etf_kline(
    call: Anyone, etf_code: StockCode, as_of: AsOfRead, days: Days = 250, adjust: Adjust = "qfq"
) -> Answer:
    """Stored daily bars of an ETF or LOF, oldest first; none for any other code."""
    read = call.state.reading.point(fund_bars, etf_code, days, adjust, bound_of(as_of))
    name, items, is_fund = await read_or((None, [], True), read)
    history: dict[str, Any] = {"first_date": None, "note": f"{etf_code} is not known as an ETF or LOF"}
    if is_fund:
        given, what = len(items), "bars"
        history = await reach(call.state, KLINE, given, asked=days, code=etf_code, what=what, as_of=as_of)
    bars = {"adjust": adjust, "items": items, "total": len(items), "_source": "fusion" if items else None}
    return Answer({"code": etf_code, "name": name, **bars, **history}, top=echo_of(as_of))


def newest_reit(session: Session, code: str) -> Row:
    """The newest row; {} for an unknown code."""
    return newest(session, session.table(REIT), code, None) or {}


def reit_bars(session: Session, code: str, days: int, adjust: str, as_of: str | None) -> list[Row]:
    """Bars of a REIT with the premium where one is stored, oldest first; [] for any other code."""
    if not newest_reit(session, code):
        return []
    reported = {row["trade_date"]: row["premium_pct"] for row in newest_rows(session, REIT, code, days)}
    bars = adjusted(stocks.bars(session, code, days, as_of, adjust), adjust)
    return [{**bar, "premium_pct": reported.get(bar["date"])} for bar in bars]


def first_of_reit(session: Session, code: str) -> str | None:
    """The first stored bar of a REIT; None for any other code."""
    return first_date(session, KLINE, KLINE.c.code == code) if newest_reit(session, code) else None


def fund_bars(
    session: Session, code: str, days: int, adjust: str, as_of: str | None
) -> tuple[str | None, list[Row], bool]:
    """(name, bars oldest first, True) of an ETF or LOF; (None, [], False) for any other code."""
    master = stocks.newest_row(session, stocks.MASTER, code, as_of)
    listed = newest(session, session.table(ETF), code, None) if as_of is None else None
    if master.get("sec_type") not in KINDS and listed is None:
        return None, [], False
    name = master.get("name") or (listed or {}).get("name")
    return name, adjusted(stocks.bars(session, code, days, as_of, adjust), adjust), True
