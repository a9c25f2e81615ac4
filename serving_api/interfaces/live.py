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
Ask = Callable[[State, Params], Awaitable[Answered]]
MINUTES = (1, 5, 15, 30, 60)


async def _order_book(state: State, params: Params) -> Answered:
    """null when the security is unknown."""
    answer = await state.part(live_of).order_book(params["code"])
    return answer.shaped(answer.value or None)


async def _minute_kline(state: State, params: Params) -> Answered:
    minutes = params["period"]
    if minutes not in MINUTES:
        raise InputError("period", f"{minutes} is none of {', '.join(map(str, MINUTES))} minutes")
    return await state.part(live_of).minute_kline(params["code"], minutes)


async def _index_quotes(state: State, params: Params) -> Answered:
    """The named indices, or the main ones of the mainland."""
    if params["scope"] != "cn":
        raise InputError("scope", "live quotes are those of cn; others are stored, see get_index_latest")
    return await state.part(live_of).index_quotes(params["codes"])


def _part(key: str, ask: Ask) -> Ask:
    """One key of an answer."""

    async def part(state: State, params: Params) -> Answered:
        answer = await ask(state, params)
        return answer.shaped(answer.value[key])

    return part


LIVE: Mapping[str, Ask] = {
    "live_quotes": lambda state, params: state.part(live_of).quotes(params["codes"]),
    "live_order_book": _order_book,
    "live_ticks": lambda state, params: state.part(live_of).ticks(params["code"], params["limit"]),
    "live_minute_kline": _part("items", _minute_kline),
    "live_fund_flow_minute": _part(
        "items", lambda state, params: state.part(live_of).fund_flow_minutes(params["code"])
    ),
    "live_northbound": _part("items", lambda state, _: state.part(live_of).northbound()),
    "live_index_quotes": _index_quotes,
    "live_ah_premium": lambda state, params: state.part(HongKong).premium(params["code"]),
    "live_industry_ranking": lambda state, params: state.part(Market).industry_ends(params["top_n"]),
    "live_market_stat": lambda state, _: state.part(live_of).market_stat(),
    "live_exrights": _part("records", lambda state, params: state.part(live_of).exrights(params["code"])),
    "live_stock_changes": lambda state, params: state.part(Changes).newest(params["limit"]),
}
"""Template of an interface -> what it asks."""
