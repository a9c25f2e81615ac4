"""/stocks/{code}/vpa and /rtsi, /quant/vpa/{code} and /quant/relative-strength: anyone."""

from typing import Annotated, Any

from fastapi import Depends, Query

from core.errors import InputError
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.compute.parameters.scorecards import BENCHMARK
from platform_assets.compute.parameters.volume_price import CHANGE_BARS
from platform_assets.datasets.index_daily import INDICES
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, reach
from serving_api.framework.parameters import AsOf, AsOfRead, StockCode
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.framework.state import State
from serving_api.quant.strength import queries, schemas, service
from serving_api.stocks.bars import Bar
from serving_api.stocks.queries import KLINE, bars
from serving_api.table_lists import trade_day

stocks_router = area_router(f"{PREFIX}/stocks", "stocks")
router = area_router(f"{PREFIX}/quant", "quant")

Window = Annotated[int, Query(ge=60, le=500, description="newest traded bars that are looked at")]
Benchmark = Annotated[str, Query(description="index symbol", examples=[BENCHMARK])]


def _echo(as_of: AsOf | None) -> dict[str, Any]:
    return {} if as_of is None else {"as_of": as_of.echo}


async def _bars(state: State, code: str, count: int, as_of: AsOf | None) -> list[Bar]:
    bound = None if as_of is None else as_of.bound
    return await read_or([], state.reading.scan(bars, code, count, bound))


async def _vpa(state: State, code: str, days: int, as_of: AsOf | None) -> Answer:
    found = await _bars(state, code, days, as_of)
    return Answer(service.analysis_answer(code, found), top=_echo(as_of))


@stocks_router.get("/{code}/vpa", schemas.VolumePrice, top=[("as_of", str)], tables=(KLINE,))
async def stock_vpa(call: Anyone, code: StockCode, as_of: AsOfRead, days: Window = 120) -> Answer:
    """Volume-price analysis: four factors, their mean and the evidence. An observation, no advice."""
    return await _vpa(call.state, code, days, as_of)


@stocks_router.get("/{code}/rtsi", schemas.TrendStrength, top=[("as_of", str), *REACH], tables=(KLINE,))
async def rtsi(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=30, le=2000, description="newest bars of the series")] = 250,
) -> Answer:
    """Trend strength by date, oldest first."""
    found = await _bars(call.state, code, days + WARM_UP_BARS, as_of)
    answer = service.strength_answer(code, found, days)
    given, what = len(answer["series"]), "bars with a value"
    history = await reach(call.state, KLINE, given, asked=days, code=code, what=what, as_of=as_of)
    return Answer(answer, top={**_echo(as_of), **history})


@router.get("/vpa/{code}", schemas.VolumePrice, tables=(KLINE,))
async def quant_vpa(call: Anyone, code: StockCode, as_of: AsOfRead, days: Window = 120) -> Answer:
    """As /stocks/{code}/vpa, without the envelope."""
    return await _vpa(call.state, code, days, as_of)


@router.get("/relative-strength", schemas.RelativeRanking, tables=queries.TABLES)
async def relative(
    call: Anyone,
    date: Annotated[str | None, Depends(trade_day)],
    window: Annotated[int, Query(description="bars: 20, 60 or 120", examples=[20])] = 20,
    benchmark: Benchmark = BENCHMARK,
    limit: Annotated[int, Query(ge=1, le=500, description="rows of the answer")] = 100,
    industry: Annotated[str | None, Query(max_length=64, description="name of an industry")] = None,
) -> Answer:
    """Stocks by their excess return over an index, the strongest first."""
    if window not in CHANGE_BARS:
        raise InputError("window", f"{window} is no window; one of {', '.join(map(str, CHANGE_BARS))}")
    if benchmark not in INDICES:
        raise InputError("benchmark", f"{benchmark[:20]!r} is not stored; one of {', '.join(INDICES)}")
    day, found = await service.ranked(call.state, date, benchmark)
    rows = [] if found is None else found.rows(window, industry)
    reported = {"date": day, "window": window, "benchmark": benchmark}
    reported |= await reach(call.state, KLINE, len(rows))
    return Answer({**reported, "items": rows[:limit], "total": len(rows)})
