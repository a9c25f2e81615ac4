"""Interfaces that request an upstream when they are called; their answers are those of the live routes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.errors import InputError
from serving_api.framework.state import State
from serving_api.hong_kong.service import HongKong
from serving_api.live.admin_reads.changes import Changes
from serving_api.live.admin_reads.market import Market
from serving_api.live.admin_reads.service import live_of
from serving_api.live.clients import Answered

Params = Mapping[str, Any]
MINUTES = (1, 5, 15, 30, 60)


async def quotes(state: State, params: Params) -> Answered:
    """Code -> live quote; unknown codes are left out."""
    return await state.part(live_of).quotes(params["codes"])


async def order_book(state: State, params: Params) -> Answered:
    """One security with its five levels; null when it is unknown."""
    answer = await state.part(live_of).order_book(params["code"])
    return answer.shaped(answer.value or None)


async def ticks(state: State, params: Params) -> Answered:
    """The last trades of the session, oldest first: {time, price, volume, side}."""
    return await state.part(live_of).ticks(params["code"], params["limit"])


async def minute_kline(state: State, params: Params) -> Answered:
    """The newest minute bars, oldest first."""
    minutes = params["period"]
    if minutes not in MINUTES:
        raise InputError("period", f"{minutes} is none of {', '.join(map(str, MINUTES))} minutes")
    answer = await state.part(live_of).minute_kline(params["code"], minutes)
    return answer.shaped(answer.value["items"])


async def fund_flow_minute(state: State, params: Params) -> Answered:
    """Money flow of the session by minute, cumulative, CNY."""
    answer = await state.part(live_of).fund_flow_minutes(params["code"])
    return answer.shaped(answer.value["items"])


async def northbound(state: State, params: Params) -> Answered:
    """Flow through the stock connect by minute; empty since it is no longer disclosed."""
    answer = await state.part(live_of).northbound()
    return answer.shaped(answer.value["items"])


async def index_quotes(state: State, params: Params) -> Answered:
    """Live quotes of indices: the named ones, or the main ones of the mainland."""
    if params["scope"] != "cn":
        raise InputError("scope", "live quotes are those of cn; others are stored, see get_index_latest")
    return await state.part(live_of).index_quotes(params["codes"])


async def industry_ranking(state: State, params: Params) -> Answered:
    """{top, bottom, total}: the strongest and the weakest industries."""
    answer = await state.part(Market).industries()
    rows, count = answer.value, params["top_n"]
    return answer.shaped({"top": rows[:count], "bottom": rows[::-1][:count], "total": len(rows)})


async def market_stat(state: State, params: Params) -> Answered:
    """Current totals of all A shares. Raises when no source answers."""
    return await state.part(live_of).market_stat()


async def exrights(state: State, params: Params) -> Answered:
    """Ex-rights records of the terminal source, oldest first."""
    answer = await state.part(live_of).exrights(params["code"])
    return answer.shaped(answer.value["records"])


async def stock_changes(state: State, params: Params) -> Answered:
    """The newest intraday anomalies of all stocks; empty before the first price of a day."""
    return await state.part(Changes).newest(params["limit"])


async def ah_premium(state: State, params: Params) -> Answered:
    """Premium of the A share over the H share; null for a company that is listed once."""
    return await state.part(HongKong).premium(params["code"])


_QUOTES = (quotes, order_book, ticks, minute_kline, fund_flow_minute, northbound, index_quotes, ah_premium)
_MARKET = (industry_ranking, market_stat, exrights, stock_changes)
LIVE: Mapping[str, Callable[[State, Params], Awaitable[Answered]]] = {
    f"live_{one.__name__}": one for one in (*_QUOTES, *_MARKET)
}
"""Template of an interface -> the function of that name."""
