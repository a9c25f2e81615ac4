"""/quant/strategies*, plain; /stocks/{code}/strategy-hits and /tactic-hits, enveloped. Open to anyone."""

from datetime import time, timedelta
from typing import Annotated

from fastapi import Depends, Path, Query

from platform_assets.compute.backtests.strategies import STRATEGIES, strategy_of
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, reach_of_day, reach_of_days
from serving_api.framework.parameters import AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.market.backtests.routes import strategy_item
from serving_api.quant.strategies import audit, queries, schemas, service
from serving_api.table_lists import trade_day

router = area_router(f"{PREFIX}/quant/strategies", "strategies")
stock_router = area_router(f"{PREFIX}/stocks", "stocks")

CLOSE = time(15)
_AUDITED = (audit.WIDE, audit.KLINE, audit.FACTORS, audit.DRAGON, audit.INDICATOR, audit.PATTERN)
Key = Annotated[str, Path(description="key of a strategy", examples=["ma_cross"])]
Days = Annotated[int, Query(ge=1, le=250, description="newest trade dates")]
Hits = Annotated[int, Query(ge=1, le=200, description="newest hits")]


def _today(state: State) -> str:
    return state.today


@router.get("", schemas.StrategyRows, tables=(queries.HITS,))
async def strategies(call: Anyone) -> Answer:
    """The strategies whose picks are stored."""
    newest = await read_or({}, call.state.reading.scan(queries.newest_by_strategy))
    items = [
        {**strategy_item(one), "kind": one.kind, "last_run": newest.get(one.key)}
        for one in STRATEGIES.values()
    ]
    return Answer({"items": items})


@router.get("/{key}/picks", schemas.PickList, tables=(queries.HITS, queries.KLINE))
async def picks(
    call: Anyone,
    key: Key,
    date: Annotated[str | None, Depends(trade_day)],
    limit: Annotated[int, Query(ge=1, le=500, description="picks")] = 50,
) -> Answer:
    """Stocks that a strategy bought on a trade date, best score first."""
    strategy = strategy_of(key, "key")
    work = call.state.reading.scan(service.picks_of_day, strategy, date, limit)
    found = await read_or({"key": key, "date": date, "items": [], "total": 0}, work)
    return Answer({**found, **await reach_of_day(call.state, queries.HITS, found["date"])})


@router.get("/{key}/validation", schemas.PickValidation, tables=service.VALIDATED)
async def validation(
    call: Anyone,
    key: Key,
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates of signals")] = 120,
) -> Answer:
    """Outcomes of the picks of a strategy."""
    strategy_of(key, "key")
    found = await read_or(service.nothing_validated(key), service.validated(call.state, key, days))
    return Answer({**found, **await reach_of_days(call.state, (queries.HITS,), days)})


@stock_router.get(
    "/{code}/strategy-hits", list[schemas.StrategyHit], top=REACH, tables=(queries.HITS, queries.KLINE)
)
async def strategy_hits(call: Anyone, code: StockCode, days: Days = 30, limit: Hits = 50) -> Answer:
    """The strategies that bought a stock lately, newest first."""
    state = call.state
    work = state.reading.scan(service.strategy_hits, code, days, limit, state.calendar, _today(state))
    found = await read_or([], work)
    return Answer(found, top=await reach_of_days(state, (queries.HITS,), days))


@stock_router.get("/{code}/strategy-audit", schemas.Audit, top=[("as_of", str)], tables=_AUDITED)
async def strategy_audit(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """The verdict of the three built-in systems on a stock, now or at an instant."""
    state = call.state
    at = state.clock.now() if as_of is None else as_of.at
    day = at.date() if as_of is None or at.time() >= CLOSE else at.date() - timedelta(days=1)
    bound = None if as_of is None else as_of.bound
    work = state.reading.scan(audit.audit, code, day.isoformat(), bound, state.calendar)
    reported = await read_or(audit.nothing_audited(code), work)
    return Answer(reported, top={} if as_of is None else {"as_of": as_of.echo})


@stock_router.get("/{code}/tactic-hits", list[schemas.TacticHit], top=REACH, tables=(queries.SIGNALS,))
async def tactic_hits(call: Anyone, code: StockCode, days: Days = 30, limit: Hits = 50) -> Answer:
    """Signals and patterns of a stock, newest first."""
    state = call.state
    work = state.reading.scan(service.tactic_hits, code, days, limit, state.calendar, _today(state))
    found = await read_or([], work)
    return Answer(found, top=await reach_of_days(state, (queries.SIGNALS,), days))
