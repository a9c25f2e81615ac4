"""/stocks: open to anyone, enveloped. Fixed paths come before `/{code}`."""

from typing import Annotated, Any

import orjson
from fastapi import Depends, Query

from serving_api.framework.cache_headers import chart_policy
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, note_of
from serving_api.framework.openapi import DataAvailability
from serving_api.framework.parameters import Adjust, AsOf, AsOfRead, StockCode, bound_of, code_list, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.provisional_factors import FACTOR
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.stocks import queries, schemas
from serving_api.stocks.directory import search_row
from serving_api.stocks.service import Stocks

router = area_router(f"{PREFIX}/stocks", "stocks")

_FACTS: tuple[str, ...] = (queries.WIDE, queries.MASTER, queries.INDUSTRY, *queries.AVAILABILITY.values())
_AS_OF = ("as_of", str)
_AVAILABLE = ("data_availability", DataAvailability)


def _chart(state: State) -> str:
    return chart_policy(state.clock.now(), state.calendar)


def _bars(as_of: AsOf | None) -> str:
    """What a note counts."""
    return "bars" if as_of is None else "bars of that time"


def _reach(first: str | None, given: int, asked: int, as_of: AsOf | None) -> dict[str, Any]:
    return {"first_date": first, "note": note_of(first, given, asked, what=_bars(as_of))}


@router.get("/search", response_model=list[schemas.SearchHit])
@serves(top=[("page_info", schemas.PageInfo)], tables=(queries.MASTER, queries.INDUSTRY))
async def search(
    call: Anyone,
    keyword: Annotated[str, Query(min_length=1, max_length=64, description="part of a code, name or pinyin")],
    page: Annotated[int, Query(ge=1, le=1_000_000, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=100, description="hits of a page")] = 10,
) -> Answer:
    """Find securities by code, name, pinyin initials or spelling."""
    hits, total = await call.state.part(Stocks).search(keyword, page, page_size)
    page_info = {"cur_page": page, "per_page": page_size, "total": total}
    return Answer({"items": [search_row(hit) for hit in hits], "total": total, "page_info": page_info})


@router.get("/index", response_model=list[schemas.IndexEntry])
@serves(tables=(queries.MASTER,))
async def index(call: Anyone) -> Answer:
    """All securities with few columns, for searches in the client."""
    directory = await call.state.part(Stocks).directory()
    return Answer({"items": orjson.Fragment(directory.index_json), "total": len(directory.listings)})


@router.get("/cache-stats", response_model=schemas.CacheStats)
async def cache_stats(call: Anyone) -> Answer:
    """Hit rates of this process's caches."""
    return Answer(call.state.cache.stats())


@router.get("/batch-quotes", response_model=list[schemas.Quote])
@serves(tables=(queries.QUOTE,))
async def batch_quotes(call: Anyone, codes: Annotated[list[str], Depends(code_list(200))]) -> Answer:
    """The newest stored quotes; codes without one are left out."""
    return Answer(await call.state.part(Stocks).quotes(codes))


@router.get("/batch-kline", response_model=dict[str, list[schemas.KBar]])
@serves(
    top=[("adjust", str), FACTOR, ("total", int), _AS_OF, *REACH],
    tables=(queries.KLINE,),
    cache=_chart,
    kept=True,
)
async def batch_kline(
    call: Anyone,
    as_of: AsOfRead,
    codes: Annotated[list[str], Depends(code_list(100))],
    days: Annotated[int, Query(ge=5, le=500, description="newest bars of each code")] = 60,
    adjust: Adjust = "qfq",
) -> Answer:
    """The newest bars of several codes, oldest first."""
    stocks = call.state.part(Stocks)
    found, first = await stocks.batch_kline(codes, days, adjust, bound_of(as_of))
    few = [code for code, bars in found.items() if len(bars) < days]
    reported = {
        "first_date": first[0] if first else None,
        "note": f"fewer than {days} {_bars(as_of)} are stored of {', '.join(few)}" if few and first else None,
    }
    answer = {"results": found, "adjust": adjust, "total": len(found)}
    return Answer(answer, top={**echo_of(as_of), **reported})


@router.get("/{code}/kline", response_model=list[schemas.KBar])
@serves(
    top=[("adjust", str), FACTOR, ("total", int), ("lines", schemas.ChartLines), _AS_OF, *REACH],
    tables=(queries.KLINE,),
    cache=_chart,
    kept=True,
)
async def kline(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=30, le=2000, description="newest bars")] = 120,
    adjust: Adjust = "qfq",
    lines: Annotated[
        bool, Query(description="also the lines of a chart (averages, BOLL, MACD, KDJ, RSI) of these bars")
    ] = False,
) -> Answer:
    """Daily bars, oldest first.

    With `lines` a value of each line for each bar, computed from prices of the same adjustment, those of
    earlier bars included."""
    stocks = call.state.part(Stocks)
    items, first, drawn = await stocks.kline(code, days, adjust, bound_of(as_of), lines=lines)
    reported = {} if first is None else _reach(first[0], len(items), days, as_of)
    answer = {"items": items, "total": len(items), "adjust": adjust}
    return Answer(answer, top={**echo_of(as_of), **reported, **({"lines": drawn} if lines else {})})


@router.get("/{code}/base-info", response_model=schemas.BaseInfo | None)
@serves(top=[_AVAILABLE, _AS_OF], tables=_FACTS)
async def base_info(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """Key metrics; null when nothing is known."""
    info, available = await call.state.part(Stocks).base_info(code, bound_of(as_of))
    return Answer(info, top={"data_availability": available, **echo_of(as_of)})


@router.get("/{code}", response_model=schemas.StockDetail)
@serves(top=[_AVAILABLE, _AS_OF], tables=_FACTS, raises=(404,))
async def detail(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """One security."""
    figures, available = await call.state.part(Stocks).detail(code, bound_of(as_of))
    return Answer(figures, top={"data_availability": available, **echo_of(as_of)})
