"""/factor and /market/factors: open to anyone, plain."""

from typing import Annotated, Any

from fastapi import Depends, Query

from core.errors import InputError
from platform_assets.compute.factors.definitions import FACTORS
from platform_assets.compute.factors.presets import PRESETS
from serving_api.db.adjusted_reads import noting
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import reach
from serving_api.framework.parameters import AsOfRead, StockCode, bound_of, code_list, echo_of, parse_as_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.quant.factors import queries, schemas
from serving_api.quant.factors.bench import bench, unknown
from serving_api.quant.factors.market import Market, market_of
from serving_api.quant.factors.screen import (
    broken_down,
    no_hits,
    nothing,
    preset_hits,
    screen_request,
    screened,
    unscored,
)
from serving_api.table_lists import TradeDay, trade_date

router = area_router(f"{PREFIX}/factor", "factor")
market_router = area_router(f"{PREFIX}/market/factors", "factor")

LEAST_CODES, MOST_CODES = 20, 500


_LEGEND = schemas.Factors.model_validate({"items": FACTORS, "total": len(FACTORS)}, from_attributes=True)
_BENCH_TABLES = (queries.KLINE, queries.VALUATION, queries.FLOW, queries.FINANCE)


async def _market(state: State, day: str | None, as_of: str | None) -> Market | None:
    return await read_or(None, market_of(state, day, as_of))


async def _reached(state: State, market: Market | None, day: str | None) -> dict[str, Any]:
    """The first date of the data behind an answer about a market: of the wide rows, else of the bars."""
    past = market is None or market.note is not None
    given = 0 if market is None else market.size
    history = await reach(state, queries.KLINE if past else queries.WIDE, given, day=day)
    return history if market is None or market.note is None else {**history, "note": market.note}


@router.get("/factors", response_model=schemas.Factors)
async def factors(call: Anyone) -> Answer:
    """The eleven factors: weights, directions, inputs, and their status as proxy or partial."""
    return Answer(_LEGEND)


@router.get("/presets", response_model=schemas.Presets)
async def presets(call: Anyone) -> Answer:
    """The fourteen presets."""
    return Answer({"items": [preset.plain() for preset in PRESETS]})


@router.get("/strategy-hits/{code}", response_model=schemas.PresetHits)
@serves(tables=(queries.WIDE,))
async def strategy_hits(call: Anyone, code: StockCode, as_of: AsOfRead, date: TradeDay) -> Answer:
    """Which presets select a stock, its rank in them, and why the others do not select it."""
    with noting() as reads:
        market = await _market(call.state, date, bound_of(as_of))
        reads.keep((code,))
    reported = no_hits(code, date) if market is None else preset_hits(market, code)
    return Answer({**reported, **await _reached(call.state, market, date)}, top=echo_of(as_of))


@router.get("/breakdown/{code}", response_model=schemas.Breakdown)
@serves(tables=(queries.WIDE,))
async def breakdown(call: Anyone, code: StockCode, as_of: AsOfRead, date: TradeDay) -> Answer:
    """A stock's scores in the whole market, with the cells behind them and their dates."""
    with noting() as reads:
        market = await _market(call.state, date, bound_of(as_of))
        reads.keep((code,))
    reported = unscored(code, date) if market is None else broken_down(market, code)
    return Answer({**reported, **await _reached(call.state, market, date)}, top=echo_of(as_of))


@router.post("/screen", response_model=schemas.Screened)
async def screen(call: Anyone, body: schemas.ScreenBody) -> Answer:
    """Rank a market by its factors: by a preset, by filters, or by both."""
    state = call.state
    asked = screen_request(body)
    day = None if body.date is None else trade_date(state, "date", body.date)
    as_of = None if body.as_of is None else parse_as_of(body.as_of, state.clock.now())
    with noting() as reads:
        market = await _market(state, day, bound_of(as_of))
        reported = nothing(asked, day) if market is None else screened(market, asked)
        reads.keep(item["code"] for item in reported["items"])
    # The date may come from the wide table, its rows from the tables behind that.
    headers = (await state.versions.version_of((queries.WIDE,))).headers
    reached = await _reached(state, market, reported["date"])
    return Answer({**reported, **reached}, top=echo_of(as_of), headers=headers)


@market_router.get("/list", response_model=schemas.RegisteredFactors)
async def registered(call: Anyone) -> Answer:
    """The registered factors."""
    items = [
        schemas.RegisteredFactor.model_validate(
            {**vars(factor), "inputs": [cell.field for cell in factor.inputs]}
        )
        for factor in _LEGEND.items
    ]
    return Answer({"items": items, "total": len(items)})


@market_router.get("/bench", response_model=schemas.FactorBench)
@serves(tables=_BENCH_TABLES)
async def compare(
    call: Anyone,
    codes: Annotated[list[str], Depends(code_list(MOST_CODES))],
    forward_days: Annotated[int, Query(ge=1, le=60, description="sessions of the return that follows")] = 5,
    lookback_days: Annotated[int, Query(ge=20, le=750, description="dates that are looked at")] = 250,
) -> Answer:
    """How well each factor ranked the given codes by their next return."""
    if len(codes) < LEAST_CODES:
        raise InputError("codes", f"{len(codes)} codes; {LEAST_CODES}..{MOST_CODES} are allowed")
    state, key = call.state, (tuple(sorted(codes)), forward_days, lookback_days)
    known = state.cached(
        "factor bench", key, _BENCH_TABLES, lambda _: 5000 + 10 * len(codes),
        bench, state.calendar, codes, forward_days, lookback_days,
    )  # fmt: skip
    return Answer(await read_or(None, known) or unknown(forward_days))
