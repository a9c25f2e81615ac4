"""/quant/strategies*, plain; /stocks/{code}/strategy-hits and /tactic-hits, enveloped. Open to anyone."""

from datetime import time, timedelta
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field

from platform_assets.compute.backtests.strategies import STRATEGIES, strategy_of
from platform_assets.datasets.scorecard_daily import ScorecardDaily
from platform_assets.datasets.signal_hit import SignalHit
from platform_assets.datasets.strategy_hit import StrategyHit as StoredStrategyHit
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, Reach, reach_of_day, reach_of_days
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOfRead, StockCode, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns
from serving_api.market.backtests.schemas import StrategyItem
from serving_api.quant.strategies import audit, queries, service
from serving_api.table_lists import TradeDay

# Field names below /stocks are camelCase, as on the other routes there.


class StrategyRow(StrategyItem):
    kind: str = Field(description="trend, reversal or breakout")
    last_run: str | None = Field(description="newest trade date with a purchase")


class StrategyRows(BaseModel):
    items: list[StrategyRow]


class Pick(BaseModel):
    rank: int
    code: str
    name: str | None
    score: float | None = Field(description="0..100, how unusual price and volume are in the market")
    price: float | None = Field(description="close of the date, CNY, unadjusted")
    change_pct: float | None = Field(description="of the date")
    reason: str


class PickList(Reach):
    """Stocks that a strategy bought at the close of a date."""

    key: str
    date: IsoDate | None
    items: list[Pick]
    total: int = Field(description="picks of the date")


class PicksCurvePoint(BaseModel):
    date: IsoDate = Field(description="of the signals")
    cum_pct: float = Field(description="percent; compounds a fifth of the mean return of each date")


@with_columns(
    ScorecardDaily.picks, ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct,
    ScorecardDaily.avg_excess_pct, ScorecardDaily.unfillable.not_null(),
)  # fmt: skip
class PickValidation(Reach):
    """Picks bought at the next open and sold at the close of the fifth trade date; percent."""

    key: str
    curve: list[PicksCurvePoint]


class System(BaseModel):
    key: str = Field(description="dragon, tactic or composite, as in /builtin-strategies")
    name: str
    conclusion: str = Field(
        description="strong, neutral, weak, blocked by a gate, absent from the pool, or missing inputs"
    )
    score: float | None = Field(description="0..100")
    passed: bool | None = Field(description="null where inputs are missing")
    reasons: list[str]
    warnings: list[str] = Field(description="inputs that are missing or of an earlier date")


class AuditGate(BaseModel):
    """The hard gates; null when the stock is unknown."""

    passed: bool | None
    blocked: bool | None
    code: str | None
    reason: str | None
    warnings: list[str]


class Audit(BaseModel):
    """The verdict of the three built-in systems on a stock."""

    code: str
    date: IsoDate | None = Field(description="newest bar of the stock")
    systems: list[System]
    gate: AuditGate


@with_columns(
    StoredStrategyHit.trade_date.label("date"), StoredStrategyHit.strategy_key.label("strategyKey"),
    StoredStrategyHit.score, StoredStrategyHit.price,
)  # fmt: skip
class StrategyHit(BaseModel):
    strategyName: str
    changeSince: float | None = Field(description="percent up to the newest close, adjusted")


@with_columns(
    SignalHit.trade_date.label("date"), SignalHit.signal_key.label("signalKey"), SignalHit.direction,
    SignalHit.price, SignalHit.strength,
)  # fmt: skip
class TacticHit(BaseModel):
    signalName: str


router = area_router(f"{PREFIX}/quant/strategies", "strategies")
stock_router = area_router(f"{PREFIX}/stocks", "stocks")

CLOSE = time(15)
_AUDITED = (audit.WIDE, audit.KLINE, audit.FACTORS, audit.DRAGON, audit.INDICATOR, audit.PATTERN)
Key = Annotated[str, Path(description="key of a strategy", examples=["ma_cross"])]
Days = Annotated[int, Query(ge=1, le=250, description="newest trade dates")]
Hits = Annotated[int, Query(ge=1, le=200, description="newest hits")]


@router.get("", response_model=StrategyRows)
@serves(tables=(queries.HITS,))
async def strategies(call: Anyone) -> Answer:
    """The strategies whose picks are stored."""
    newest = await read_or({}, call.state.reading.scan(queries.newest_by_strategy))
    items = [
        StrategyRow.model_validate({**vars(one), "last_run": newest.get(one.key)}, from_attributes=True)
        for one in STRATEGIES.values()
    ]
    return Answer({"items": items})


@router.get("/{key}/picks", response_model=PickList)
@serves(tables=(queries.HITS, queries.KLINE))
async def picks(
    call: Anyone,
    key: Key,
    date: TradeDay,
    limit: Annotated[int, Query(ge=1, le=500, description="picks")] = 50,
) -> Answer:
    """Stocks that a strategy bought on a trade date, best score first."""
    strategy = strategy_of(key, "key")
    work = call.state.reading.scan(service.picks_of_day, strategy, date, limit)
    found = await read_or({"key": key, "date": date, "items": [], "total": 0}, work)
    return Answer({**found, **await reach_of_day(call.state, queries.HITS, found["date"])})


@router.get("/{key}/validation", response_model=PickValidation)
@serves(tables=service.VALIDATED)
async def validation(
    call: Anyone,
    key: Key,
    days: Annotated[int, Query(ge=1, le=2500, description="newest trade dates of signals")] = 120,
) -> Answer:
    """Outcomes of the picks of a strategy."""
    strategy_of(key, "key")
    state, since = call.state, call.state.since(days)
    known = state.cached(
        "strategy-validation", (key, since), service.VALIDATED, lambda made: 60 * len(made["curve"]) + 500,
        service.validation, key, since, state.calendar,
    )  # fmt: skip
    found = await read_or(None, known) or service.nothing_validated(key)
    return Answer({**found, **await reach_of_days(state, (queries.HITS,), days)})


@stock_router.get("/{code}/strategy-hits", response_model=list[StrategyHit])
@serves(top=REACH, tables=(queries.HITS, queries.KLINE))
async def strategy_hits(call: Anyone, code: StockCode, days: Days = 30, limit: Hits = 50) -> Answer:
    """The strategies that bought a stock lately, newest first."""
    state = call.state
    found = await read_or([], state.reading.scan(service.strategy_hits, code, state.since(days), limit))
    return Answer(found, top=await reach_of_days(state, (queries.HITS,), days))


@stock_router.get("/{code}/strategy-audit", response_model=Audit)
@serves(top=[("as_of", str)], tables=_AUDITED)
async def strategy_audit(call: Anyone, code: StockCode, as_of: AsOfRead) -> Answer:
    """The verdict of the three built-in systems on a stock, now or at an instant."""
    state = call.state
    at = state.clock.now() if as_of is None else as_of.at
    day = at.date() if as_of is None or at.time() >= CLOSE else at.date() - timedelta(days=1)
    work = state.reading.scan(audit.audit, code, day.isoformat(), bound_of(as_of), state.calendar)
    return Answer(await read_or(audit.nothing_audited(code), work), top=echo_of(as_of))


@stock_router.get("/{code}/tactic-hits", response_model=list[TacticHit])
@serves(top=REACH, tables=(queries.SIGNALS,))
async def tactic_hits(call: Anyone, code: StockCode, days: Days = 30, limit: Hits = 50) -> Answer:
    """Signals and patterns of a stock, newest first."""
    state = call.state
    found = await read_or([], state.reading.scan(service.tactic_hits, code, state.since(days), limit))
    return Answer(found, top=await reach_of_days(state, (queries.SIGNALS,), days))
