"""/market/backtest*, open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Query

from core.records import picked
from platform_assets.compute.backtests.atr_stop import style_of
from platform_assets.compute.backtests.strategies import STRATEGIES, Strategy, strategy_of
from platform_assets.compute.parameters.backtests import ATR_PERIOD, LONGEST_PERIOD, STYLES
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.market.backtests import queries, schemas
from serving_api.market.backtests.messages import empty_answer
from serving_api.market.backtests.service import stop_backtest, strategy_backtest

router = area_router(f"{PREFIX}/market/backtest", "backtests")

UNREADABLE = "the stored bars cannot be read now"
_TABLES = (queries.KLINE, queries.EXRIGHT, queries.MASTER)
Code = Annotated[str, Query(pattern=r"^[0-9]{6}$", description="6-digit code", examples=["600519"])]
Capital = Annotated[float, Query(gt=0, le=1e12, allow_inf_nan=False, description="CNY")]
Lookback = Annotated[int, Query(ge=60, le=2500, description="newest trade dates")]
Period = Annotated[
    int | None, Query(ge=1, le=LONGEST_PERIOD, description="bars; the strategy's own where it is not given")
]


@router.get("", schemas.StopBacktest, tables=_TABLES)
async def trailing_stop(
    call: Anyone,
    code: Code,
    profile: Annotated[str, Query(description="conservative, moderate or aggressive")] = "moderate",
    initial_capital: Capital = 100_000.0,
    lookback_days: Lookback = 250,
) -> Answer:
    """Backtest of the ATR trailing stop on one stock."""
    style = style_of(profile)
    reported = await read_or(
        {
            **empty_answer(code, None, initial_capital, UNREADABLE),
            "profile": style.key,
            "atr_period": ATR_PERIOD,
            "atr_multiple": style.atr_multiple,
        },
        call.state.reading.scan(
            stop_backtest, code, style, initial_capital, lookback_days, call.state.calendar
        ),
    )
    return Answer(reported)


@router.get("/strategies", schemas.StyleList)
async def styles(call: Anyone) -> Answer:
    """The profiles of the trailing stop."""
    items = [
        {
            "key": style.key,
            "name": style.name,
            "atr_period": ATR_PERIOD,
            **picked(style, "atr_multiple breakout_bars risk_pct position_pct"),
            "description": (
                f"buys at a close above the highest high of {style.breakout_bars} bars and above MA60, sells "
                f"below a stop {style.atr_multiple:g} ATR under the highest close since"
            ),
        }
        for style in STYLES
    ]
    return Answer({"items": items})


@router.get("/strategy", schemas.StrategyBacktest, tables=_TABLES)
async def strategy_run(
    call: Anyone,
    code: Code,
    strategy: Annotated[str, Query(description="key of `/market/backtest/strategy/list`")] = "ma_cross",
    fast_period: Period = None,
    slow_period: Period = None,
    initial_capital: Capital = 100_000.0,
    lookback_days: Lookback = 250,
    validate: Annotated[bool, Query(description="split in time, and with other periods")] = False,
) -> Answer:
    """Backtest of a strategy on one stock, under price limits, lots, T+1 and fees."""
    chosen = strategy_of(strategy)
    periods = chosen.chosen(fast_period, slow_period)
    reported = await read_or(
        {
            **empty_answer(code, None, initial_capital, UNREADABLE),
            "strategy": chosen.key,
            "params": chosen.params(periods),
        },
        call.state.reading.scan(
            strategy_backtest,
            code,
            chosen,
            periods,
            initial_capital,
            lookback_days,
            call.state.calendar,
            validate,
        ),
    )
    return Answer(reported)


@router.get("/strategy/list", schemas.StrategyList)
async def strategy_list(call: Anyone) -> Answer:
    """The nine strategies with their periods."""
    return Answer({"items": [strategy_item(strategy) for strategy in STRATEGIES.values()]})


def strategy_item(strategy: Strategy) -> dict[str, Any]:
    return {
        "key": strategy.key,
        "name": strategy.name,
        "params": [
            {"name": period.name, "default": period.default, "min": period.least, "max": period.most}
            for period in strategy.periods
        ],
        "description": strategy.description,
    }
