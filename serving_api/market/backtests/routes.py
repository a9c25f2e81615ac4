"""/market/backtest*, open to anyone, plain."""

from typing import Annotated

from fastapi import Query

from platform_assets.compute.backtests.atr_stop import style_of
from platform_assets.compute.backtests.strategies import STRATEGIES, strategy_of
from platform_assets.compute.parameters.backtests import ATR_PERIOD, LONGEST_PERIOD, STYLES
from serving_api.framework.envelope import PREFIX
from serving_api.framework.parameters import CodeQuery
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.market.backtests import queries, schemas
from serving_api.market.backtests.messages import empty_answer
from serving_api.market.backtests.service import Rule, backtest, stop_rule, strategy_rule

router = area_router(f"{PREFIX}/market/backtest", "backtests")

UNREADABLE = "the stored bars cannot be read now"
_TABLES = (queries.KLINE, queries.EXRIGHT, queries.MASTER)
Capital = Annotated[float, Query(gt=0, le=1e12, allow_inf_nan=False, description="CNY")]
Lookback = Annotated[int, Query(ge=60, le=2500, description="newest trade dates")]
Period = Annotated[
    int | None, Query(ge=1, le=LONGEST_PERIOD, description="bars; the strategy's own where it is not given")
]


@router.get("", response_model=schemas.StopBacktest)
@serves(tables=_TABLES)
async def trailing_stop(
    call: Anyone,
    code: CodeQuery,
    profile: Annotated[str, Query(description="conservative, moderate or aggressive")] = "moderate",
    initial_capital: Capital = 100_000.0,
    lookback_days: Lookback = 250,
) -> Answer:
    """Backtest of the ATR trailing stop on one stock."""
    return await _answer(call.state, code, stop_rule(style_of(profile)), initial_capital, lookback_days)


async def _answer(state: State, code: str, rule: Rule, capital: float, lookback: int) -> Answer:
    nothing = {**empty_answer(code, None, capital, UNREADABLE), **rule[0]}
    read = state.reading.scan(backtest, code, rule, capital, lookback, state.calendar)
    return Answer(await read_or(nothing, read))


@router.get("/strategies", response_model=schemas.StyleList)
async def styles(call: Anyone) -> Answer:
    """The profiles of the trailing stop."""
    items = [
        schemas.StyleItem(
            **vars(style),
            atr_period=ATR_PERIOD,
            description=(
                f"buys at a close above the highest high of {style.breakout_bars} bars and above MA60, sells "
                f"below a stop {style.atr_multiple:g} ATR under the highest close since"
            ),
        )
        for style in STYLES
    ]
    return Answer({"items": items})


@router.get("/strategy", response_model=schemas.StrategyBacktest)
@serves(tables=_TABLES)
async def strategy_run(
    call: Anyone,
    code: CodeQuery,
    strategy: Annotated[str, Query(description="key of `/market/backtest/strategy/list`")] = "ma_cross",
    fast_period: Period = None,
    slow_period: Period = None,
    initial_capital: Capital = 100_000.0,
    lookback_days: Lookback = 250,
    validate: Annotated[bool, Query(description="split in time, and with other periods")] = False,
) -> Answer:
    """Backtest of a strategy on one stock, under price limits, lots, T+1 and fees."""
    chosen = strategy_of(strategy)
    rule = strategy_rule(chosen, chosen.chosen(fast_period, slow_period), validate)
    return await _answer(call.state, code, rule, initial_capital, lookback_days)


@router.get("/strategy/list", response_model=schemas.StrategyList)
async def strategy_list(call: Anyone) -> Answer:
    """The nine strategies with their periods."""
    listed = {"items": list(STRATEGIES.values())}
    return Answer(schemas.StrategyList.model_validate(listed, from_attributes=True))
