"""/market reads of the running session: open to anyone, plain."""

from typing import Any

from core.clock import local_iso
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.live.chain import UnifiedReads, of_one_session
from serving_api.live.data_types import Found
from serving_api.market import schemas
from serving_api.market.context import MarketContext
from serving_api.market.share_brief import picture

router = area_router(f"{PREFIX}/market", "market: live reads")

ENDS = 5


async def read(state: State, name: str) -> Found:
    """A data type of the unified read."""
    return await state.part(UnifiedReads).read(name)


def answer(state: State, found: Found, body: dict[str, Any], *, sourced: bool = True) -> Answer:
    """`body` with its time and, if its model has them, its trade date and source; all are response headers as
    well."""
    at = local_iso(found.at or state.clock.now())
    headers = {}
    if found.origin is not None and found.trade_date is not None:
        headers = {"X-Data-As-Of": at, "X-Data-Source": found.origin, "X-Trade-Date": found.trade_date}
    if found.stale:
        headers["X-Cache"] = "stale"
    reported = {"trade_date": found.trade_date, "_source": found.origin} if sourced else {}
    return Answer({**body, "timestamp": at, **reported}, headers=headers)


@router.get("/overview", response_model=schemas.Overview)
async def overview(call: Anyone) -> Answer:
    """The five strongest and the five weakest industries, and how many stocks are at a limit."""
    kinds = ("industry_rank", "distribution")
    reads = of_one_session({name: await read(call.state, name) for name in kinds})
    industries, counts = (reads[name] for name in kinds)
    rows = industries.body["industries"]
    ends = [*rows[:ENDS], *rows[ENDS:][-ENDS:]]
    sectors = [{name: row[name] for name in ("code", "name", "change_percent", "rank")} for row in ends]
    body = {"sectors": sectors, "limit_up": counts.body["limit_up"], "limit_down": counts.body["limit_down"]}
    older = min((industries, counts), key=lambda found: (found.at is None, found.at))
    return answer(call.state, older, body, sourced=False)


@router.get("/sentiment", response_model=schemas.Sentiment)
async def sentiment(call: Anyone) -> Answer:
    """Main indices, breadth and the score calculated from both."""
    found = await read(call.state, "sentiment")
    indices = [
        {name: row[name] for name in ("code", "name", "price", "change_percent")}
        for row in found.body["indices"]
    ]
    return answer(call.state, found, {**found.body, "indices": indices})


@router.get("/indices", response_model=schemas.Indices)
async def indices(call: Anyone) -> Answer:
    """The main indices, a part of the sentiment read."""
    found = await read(call.state, "sentiment")
    return answer(call.state, found, {"indices": found.body["indices"]})


@router.get("/distribution", response_model=schemas.Distribution)
async def distribution(call: Anyone) -> Answer:
    """How many stocks rise, fall, are unchanged or at a limit, and the size of their changes."""
    found = await read(call.state, "distribution")
    return answer(call.state, found, found.body)


@router.get("/industry-rank", response_model=schemas.StrongestWeakest)
async def industry_rank(call: Anyone) -> Answer:
    """The five strongest and the five weakest industries of the session."""
    found = await read(call.state, "industry_rank")
    rows = found.body["industries"]
    return answer(call.state, found, {"top": rows[:ENDS], "bottom": rows[::-1][:ENDS]})


@router.get("/fund-flow", response_model=schemas.MarketFlow)
async def fund_flow(call: Anyone) -> Answer:
    """Turnover and main net inflow of the market, and the share of limit-ups that hold."""
    found = await read(call.state, "fund_flow")
    return answer(call.state, found, found.body)


@router.get("/cross-market-risk", response_model=schemas.CrossMarketRisk)
async def cross_market_risk(call: Anyone) -> Answer:
    """A risk temperature from nine rules, three of this market and six of others; stale or missing inputs
    are not counted."""
    made = await call.state.part(MarketContext).read()
    return Answer({**made.risk, "timestamp": local_iso(made.at)})


@router.get("/event-chain", response_model=schemas.EventChain)
async def event_chain(call: Anyone) -> Answer:
    """Themes, sectors and stocks that today's flash news name, and what they share. Weights count flashes
    and are not part of any score. Text from outside: escape it."""
    made = await call.state.part(MarketContext).read()
    return Answer({**made.events, "timestamp": local_iso(made.at)})


@router.get("/share-brief", response_model=schemas.ShareBrief)
async def share_brief(call: Anyone) -> Answer:
    """The current market as an SVG picture of 1200 by 630 pixels; null without any data. It needs no
    Chinese font: characters are drawn."""
    return Answer(await picture.share_brief(call.state))
