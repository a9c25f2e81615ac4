"""/reit/* and /fusion/fund/*: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request

from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach, reach_from
from serving_api.framework.parameters import Adjust, AsOf, AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serving
from serving_api.framework.state import state_of
from serving_api.funds import queries, schemas
from serving_api.stocks.queries import KLINE
from serving_api.table_lists.listing import Sort

reit_router = area_router(f"{PREFIX}/reit", "REITs")
fund_router = area_router(f"{PREFIX}/fusion/fund", "funds")

Days = Annotated[int, Query(ge=30, le=2000, description="newest trade dates")]
_INFO = ("name", "asset_type", "list_date", "total_shares")


def _bound(as_of: AsOf | None) -> str | None:
    return None if as_of is None else as_of.bound


def _echo(as_of: AsOf | None) -> dict[str, Any]:
    return {} if as_of is None else {"as_of": as_of.echo}


@reit_router.get("/list")
@serving(schemas.ReitList, tables=(queries.REIT,))
async def reit_list(request: Request, subject: Anyone, sort: Sort = "-change_pct") -> Answer:
    """Every REIT on the newest trade date."""
    return Answer(
        await read_or(
            {"items": [], "total": 0, "date": None}, state_of(request).reading.scan(queries.reits, sort)
        )
    )


@reit_router.get("/{code}")
@serving(schemas.Reit, tables=(queries.REIT,))
async def reit(request: Request, subject: Anyone, code: StockCode) -> Answer:
    """One REIT: its newest row and its constant properties."""
    row = await read_or({}, state_of(request).reading.point(queries.reit, code))
    info = {name: row[name] for name in _INFO} if row else {}
    return Answer({"code": code, "name": row.get("name"), "latest": row, "info": info})


@reit_router.get("/{code}/history")
@serving(schemas.ReitHistory, tables=(queries.REIT, KLINE))
async def reit_history(
    request: Request,
    subject: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    days: Days = 250,
    adjust: Adjust = "none",
) -> Answer:
    """Daily bars of a REIT with its premium, oldest first."""
    state = state_of(request)
    read = state.reading.point(queries.reit_history, code, days, adjust, _bound(as_of))
    items = await read_or([], read)
    first = state.reading.point(queries.first_of_reit, code)
    history = await reach_from(first, len(items), asked=days, what="bars", as_of=as_of)
    answer = {"code": code, "adjust": adjust, "items": items, "total": len(items), **history}
    return Answer(answer, top=_echo(as_of))


@fund_router.get("/etf-kline/{etf_code}")
@serving(schemas.EtfBars, tables=(KLINE, queries.ETF))
async def etf_kline(
    request: Request,
    subject: Anyone,
    etf_code: StockCode,
    as_of: AsOfRead,
    days: Days = 250,
    adjust: Adjust = "qfq",
) -> Answer:
    """Stored daily bars of an ETF or LOF, oldest first; none for any other code."""
    state = state_of(request)
    read = state.reading.point(queries.fund_bars, etf_code, days, adjust, _bound(as_of))
    name, items, is_fund = await read_or((None, [], True), read)
    history: dict[str, Any] = {"first_date": None, "note": f"{etf_code} is not known as an ETF or LOF"}
    if is_fund:
        history = await reach(state, KLINE, len(items), asked=days, code=etf_code, what="bars", as_of=as_of)
    answer = {
        "code": etf_code,
        "name": name,
        "total": len(items),
        "adjust": adjust,
        "items": items,
        "_source": "fusion" if items else None,
        **history,
    }
    return Answer(answer, top=_echo(as_of))
