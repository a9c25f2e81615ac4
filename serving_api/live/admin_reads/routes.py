"""Live reads below /datamgr: admin, enveloped, never cached by a client."""

from enum import IntEnum
from typing import Annotated, Any

from fastapi import Depends, Query

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, reach
from serving_api.framework.parameters import StockCode, code_list
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.live.admin_reads import queries, schemas
from serving_api.live.admin_reads.market import Market
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import Answered
from serving_api.table_lists import past_day

router = area_router(f"{PREFIX}/datamgr", "datamgr: live reads")


class Minutes(IntEnum):
    """Length of a minute bar."""

    m1 = 1
    m5 = 5
    m15 = 15
    m30 = 30
    m60 = 60


TopN = Annotated[int, Query(ge=1, le=100, description="industries per list")]


NAMED: list[tuple[str, Any]] = [("trade_date", str), ("_source", str)]
"""What each answer says beside its results: the trade date of the figures, and their origin."""


def _answer(answer: Answered) -> Answer:
    return Answer(answer.value, top=answer.facts, headers=answer.headers)


@router.get("/fusion/market/realtime-quote", response_model=schemas.QuoteMap)
@serves(top=NAMED, cache=NO_STORE)
async def realtime_quote(call: Admin, codes: Annotated[list[str], Depends(code_list(600))]) -> Answer:
    """Live quotes of up to 600 codes; {} when no source answers."""
    answer = await call.state.part(live_of).quotes(codes)
    return _answer(answer.shaped({"results": answer.value}))


@router.get("/market/stat", response_model=schemas.MarketStat)
@serves(top=NAMED, cache=NO_STORE, raises=(503,))
async def market_stat(call: Admin) -> Answer:
    """Current totals of all A shares; 503 when no source answers."""
    return _answer(await call.state.part(live_of).market_stat())


@router.get("/market/global-news", response_model=list[schemas.FlashNews])
@serves(cache=NO_STORE)
async def global_news(
    call: Admin, page_size: Annotated[int, Query(ge=1, le=200, description="newest items")] = 50
) -> Answer:
    """Rolling flash news, newest first; stored ones when no source answers. Text from outside: escape it."""
    news = await call.state.part(live_of).global_news(page_size)
    return Answer(news.value, headers=news.headers)


@router.get("/fusion/market/limit-up", response_model=list[schemas.LimitUp])
@serves(top=NAMED, cache=NO_STORE)
async def limit_up(call: Admin, date: Annotated[str | None, Depends(past_day)]) -> Answer:
    """The pool of limit-ups of a trade date, in order of their first seal; [] on a day without trading."""
    return _answer(await call.state.part(Market).limit_ups(date))


@router.get("/fusion/market/industry-ranking", response_model=schemas.IndustryEnds)
@serves(top=NAMED, cache=NO_STORE)
async def industry_ends(call: Admin, top_n: TopN = 20) -> Answer:
    """The strongest and the weakest industries, each from the most extreme one on."""
    return _answer(await call.state.part(Market).industry_ends(top_n))


@router.get("/market/industry-ranking", response_model=list[schemas.IndustryRank])
@serves(top=NAMED, cache=NO_STORE)
async def industry_ranking(call: Admin, top_n: TopN = 20) -> Answer:
    """The strongest industries, by change of the day."""
    answer = await call.state.part(Market).industries()
    return _answer(answer.shaped(answer.value[:top_n]))


@router.get("/market/hot-stocks", response_model=list[schemas.HotStock])
@serves(top=NAMED, cache=NO_STORE)
async def hot_stocks(call: Admin) -> Answer:
    """Strong stocks of the session with the topics behind their rise, the strongest first."""
    return _answer(await call.state.part(Market).hot_stocks())


@router.get("/realtime/northbound", response_model=list[schemas.NorthboundMinute])
@serves(top=[("date", str), ("available", bool), ("note", str), *NAMED], cache=NO_STORE)
async def northbound(call: Admin) -> Answer:
    """Northbound flow of the day by minute, 10k CNY; values are null when nothing is disclosed."""
    return _answer(await call.state.part(live_of).northbound())


@router.get("/realtime/{code}/quote", response_model=schemas.OrderBook)
@serves(top=NAMED, cache=NO_STORE)
async def quote(call: Admin, code: StockCode) -> Answer:
    """The five-level quote of one code; {} when no source answers."""
    return _answer(await call.state.part(live_of).order_book(code))


@router.get("/realtime/{code}/minute-kline", response_model=list[schemas.MinuteBar])
@serves(top=[("code", str), ("period", int), *NAMED], cache=NO_STORE)
async def minute_kline(
    call: Admin,
    code: StockCode,
    period: Annotated[Minutes, Query(description="minutes of a bar")] = Minutes.m1,
) -> Answer:
    """The newest minute bars, oldest first."""
    return _answer(await call.state.part(live_of).minute_kline(code, int(period)))


@router.get("/realtime/{code}/fund-flow-minute", response_model=list[schemas.FlowMinute])
@serves(top=[("code", str), *NAMED], cache=NO_STORE)
async def fund_flow_minute(call: Admin, code: StockCode) -> Answer:
    """Money flow of the day by minute, cumulative CNY."""
    return _answer(await call.state.part(live_of).fund_flow_minutes(code))


@router.get("/stock/{code}/xdxr", response_model=schemas.ExRights)
@serves(cache=NO_STORE)
async def xdxr(call: Admin, code: StockCode) -> Answer:
    """Ex-rights and capital changes, oldest first."""
    found = await call.state.part(live_of).exrights(code)
    return Answer(found.value, headers=found.headers)


@router.get("/stock/{code}/fund-flow", response_model=schemas.FundFlow)
@serves(top=[*REACH, *NAMED], cache=NO_STORE)
async def fund_flow(
    call: Admin,
    code: StockCode,
    days: Annotated[int, Query(ge=1, le=120, description="trade dates of the history")] = 20,
) -> Answer:
    """Today's money flow by size of order, and the main nets of the days before."""
    found = await call.state.part(live_of).fund_flow(code, days)
    given = len(found.value["history"])
    history = await reach(call.state, queries.FLOW, given, asked=days, code=code)
    return Answer(found.value, top=history | found.facts, headers=found.headers)
