"""/stocks/{code}/vpa and /rtsi, /quant/vpa/{code} and /quant/relative-strength: anyone."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query
from pydantic import BaseModel, Field

from core.arrays import Floats, Ints
from core.declaration.conditions import equal, not_set
from core.errors import InputError
from core.market.bars import Bars
from platform_assets.compute.parameters.indicators import WARM_UP_BARS
from platform_assets.compute.parameters.scorecards import BENCHMARK
from platform_assets.compute.parameters.volume_price import CHANGE_BARS, RATING_WEIGHTS
from platform_assets.compute.relative_strength import RelativeStrength, relative_strength
from platform_assets.compute.trend_strength import level_of, trend_strength
from platform_assets.compute.volume_price import Prices, analyse
from platform_assets.datasets.index_daily import INDICES, IndexDaily
from resources.warehouse.stored import stored
from serving_api.db.adjusted_reads import noting
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import REACH, Reach, reach
from serving_api.framework.openapi import IsoDate
from serving_api.framework.parameters import AsOf, AsOfRead, StockCode, bound_of, echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.stocks.bars import Bar, ratios
from serving_api.stocks.queries import INDUSTRY, KLINE, MASTER, bars
from serving_api.table_lists import TradeDay

VpaState = Literal["bullish", "neutral", "bearish", "unknown"]


class VolumePriceFactor(BaseModel):
    key: Literal["sensitivity", "confirmation", "breakout", "divergence"]
    name: str
    score: float | None = Field(description="0..100, 50 neutral; null without enough bars")
    state: VpaState
    value: float | None = Field(
        description="sensitivity: percent of the amount; confirmation: correlation; breakout: times the mean "
        "volume; divergence: change of price between the swings, percent"
    )


class VolumePriceEvidence(BaseModel):
    factor: str
    score: float | None
    values: dict[str, float | bool | None]
    text: str


class VolumePrice(BaseModel):
    code: str
    factors: list[VolumePriceFactor] = Field(description="four")
    health: float | None = Field(description="mean of the available scores, 0..100")
    observation: Literal["bullish", "neutral", "bearish"]
    evidence: list[VolumePriceEvidence]
    bars: int = Field(description="traded bars that were looked at")
    note: str


class StrengthPoint(BaseModel):
    date: IsoDate
    rtsi: float = Field(description="0..100")
    rtsi_ma5: float | None


class StrengthNow(BaseModel):
    date: IsoDate | None
    rtsi: float | None
    level: Literal["strong_up", "up", "range", "down", "strong_down"] | None
    label: str | None


class TrendStrength(BaseModel):
    """Oldest first; a bar with fewer than 60 bars up to it has no value and is left out."""

    code: str
    latest: StrengthNow
    series: list[StrengthPoint]


class RelativeRow(BaseModel):
    rank: int
    code: str
    name: str | None
    change_pct: float
    excess_pct: float = Field(description="(stock / stock then) / (index / index then) - 1, percent")
    rating: int | None = Field(description="1..99 among all stocks, by the changes over a quarter to a year")
    mansfield: float | None = Field(
        description="price in units of the index against its 50-bar mean, percent"
    )


class RelativeRanking(Reach):
    date: IsoDate | None
    window: int
    benchmark: str
    items: list[RelativeRow] = Field(description="largest excess first")
    total: int = Field(description="stocks with an excess, before the limit")


INDEX = stored("fusion_index_daily", IndexDaily)
TABLES = (KLINE, INDEX, MASTER, INDUSTRY)
_TRADED = (equal("sec_type", "stock"), not_set("is_suspended"))


def index_closes(session: Session, symbol: str, since: str, until: str) -> tuple[Ints, Floats]:
    """(dates as yyyymmdd, closes), oldest first."""
    rows = session.rows(
        INDEX,
        INDEX.c.code == symbol,
        INDEX.c.date >= since,
        INDEX.c.date <= until,
        columns=("date", "close"),
        order=[INDEX.c.date],
    )
    days = np.array([int(str(day).replace("-", "")) for day, _ in rows], dtype=np.int64)
    return days, np.array([close for _, close in rows], dtype=np.float64)


GAP_DAYS = 60
"""Additional trade dates that are read: a suspended stock has fewer bars."""
NOTE = "An observation from daily bars, with its evidence; it recommends nothing."
TOO_FEW = "Not enough bars."


def prices_of(bars: Sequence[Bar]) -> Prices:
    """Adjusted to the newest bar; bars without a price are left out."""
    kept = [bar for bar in bars if None not in (bar.high, bar.low, bar.close)]
    scale = np.array(ratios(kept, "qfq"))

    def column(name: str) -> Floats:
        return np.array([getattr(bar, name) for bar in kept], dtype=np.float64)

    return Prices(
        high=column("high") * scale,
        low=column("low") * scale,
        close=column("close") * scale,
        volume=column("volume"),
        amount=column("amount"),
    )


def analysis_answer(code: str, bars: Sequence[Bar]) -> dict[str, Any]:
    """{code, factors, health, observation, evidence, bars, note}."""
    prices = prices_of(bars)
    found = analyse(prices)
    return {
        "code": code,
        "factors": [
            {
                "key": factor.key, "name": factor.name, "score": _round(factor.score), "state": factor.state,
                "value": _round(factor.value),
            }
            for factor in found.factors
        ],
        "health": _round(found.health),
        "observation": found.observation,
        "evidence": [
            {
                "factor": factor.key,
                "score": _round(factor.score),
                "values": {name: _round(value) for name, value in factor.values.items()},
                "text": factor.text,
            }
            for factor in found.factors
        ],
        "bars": len(prices),
        "note": NOTE if found.health is not None else TOO_FEW,
    }  # fmt: skip


def strength_answer(code: str, bars: Sequence[Bar], days: int) -> dict[str, Any]:
    """{code, latest, series} of the newest `days` bars that have a value, oldest first."""
    kept = [bar for bar in bars if None not in (bar.high, bar.low, bar.close)]
    prices = prices_of(kept)
    found = trend_strength(prices.high, prices.low, prices.close)
    rows = [
        {"date": bar.date, "rtsi": _round(rtsi), "rtsi_ma5": _round(mean)}
        for bar, rtsi, mean in zip(kept, found.rtsi.tolist(), found.mean5.tolist(), strict=True)
        if np.isfinite(rtsi)
    ][-days:]
    latest: dict[str, Any] = {"date": None, "rtsi": None, "level": None, "label": None}
    if rows:
        level = level_of(float(found.rtsi[np.isfinite(found.rtsi)][-1]))
        label = level.replace("_", " ")
        latest = {"date": rows[-1]["date"], "rtsi": rows[-1]["rtsi"], "level": level, "label": label}
    return {"code": code, "latest": latest, "series": rows}


class Ranked:
    """Relative strength of the market on one date, with what a row shows beside it."""

    def __init__(self, figures: RelativeStrength, names: dict[str, str], industries: dict[str, str]) -> None:
        self.figures = figures
        self.names = names
        self.industries = industries

    def rows(self, window: int, industry: str | None) -> list[dict[str, Any]]:
        """Every stock with an excess over the window (of an industry), the strongest first."""
        excess = self.figures.excess_pct[window]
        order = np.argsort(-excess, kind="stable")
        codes = self.figures.codes
        held = [
            at
            for at in order.tolist()
            if np.isfinite(excess[at]) and (industry is None or self.industries.get(codes[at]) == industry)
        ]
        return [
            {
                "rank": rank,
                "code": codes[at],
                "name": self.names.get(codes[at]),
                "change_pct": _round(self.figures.change_pct[window][at]),
                "excess_pct": _round(excess[at]),
                "rating": None if np.isnan(self.figures.rating[at]) else int(self.figures.rating[at]),
                "mansfield": _round(self.figures.mansfield_pct[at]),
            }
            for rank, at in enumerate(held, 1)
        ]


async def ranked(state: State, day: str | None, benchmark: str) -> tuple[str | None, Ranked | None]:
    """(the date, its figures); cached until the tables change."""
    day = day or await read_or(None, state.reading.point(newest_of, KLINE))
    if day is None:
        return None, None
    # Near the beginning of the calendar there is less to read: `offset` would raise.
    dates = state.calendar.last(max(RATING_WEIGHTS) + GAP_DAYS + 1, day)
    if not dates:
        return day, None
    known = state.cached(
        "relative-strength", (day, benchmark), TABLES, lambda made: 200 * len(made.names),
        _read, dates[0], day, benchmark,
    )  # fmt: skip
    return day, await read_or(None, known)


def _read(session: Session, since: str, day: str, benchmark: str) -> Ranked:
    bars = Bars.empty()
    if session.has(KLINE):  # closes and factors alone, of every stock that traded
        columns = ("close", "adj_factor")
        bars = Bars.from_dense(session.panel(KLINE, columns, since=since, until=day, conditions=_TRADED))
    index = index_closes(session, benchmark, since, day)
    names = dict(session.rows(MASTER, columns=("code", "name")))
    industries = dict(session.rows(INDUSTRY, columns=("code", "industry")))
    return Ranked(relative_strength(bars, index, int(day.replace("-", ""))), names, industries)


def _round(value: Any) -> Any:
    """Two decimals in responses; unknown values are null."""
    if value is None or isinstance(value, bool):
        return value
    return None if np.isnan(value) else round(float(value), 2)


stocks_router = area_router(f"{PREFIX}/stocks", "stocks")
router = area_router(f"{PREFIX}/quant", "quant")

Window = Annotated[int, Query(ge=60, le=500, description="newest traded bars that are looked at")]
Benchmark = Annotated[str, Query(description="index symbol", examples=[BENCHMARK])]


async def _bars(state: State, code: str, count: int, as_of: AsOf | None) -> list[Bar]:
    return await read_or([], state.reading.scan(bars, code, count, bound_of(as_of), "qfq"))


async def _vpa(state: State, code: str, days: int, as_of: AsOf | None) -> Answer:
    found = await _bars(state, code, days, as_of)
    return Answer(analysis_answer(code, found), top=echo_of(as_of))


@stocks_router.get("/{code}/vpa", response_model=VolumePrice)
@serves(top=[("as_of", str)], tables=(KLINE,))
async def stock_vpa(call: Anyone, code: StockCode, as_of: AsOfRead, days: Window = 120) -> Answer:
    """Volume-price analysis: four factors, their mean and the evidence. An observation, no advice."""
    return await _vpa(call.state, code, days, as_of)


@stocks_router.get("/{code}/rtsi", response_model=TrendStrength)
@serves(top=[("as_of", str), *REACH], tables=(KLINE,))
async def rtsi(
    call: Anyone,
    code: StockCode,
    as_of: AsOfRead,
    days: Annotated[int, Query(ge=30, le=2000, description="newest bars of the series")] = 250,
) -> Answer:
    """Trend strength by date, oldest first."""
    found = await _bars(call.state, code, days + WARM_UP_BARS, as_of)
    answer = strength_answer(code, found, days)
    given, what = len(answer["series"]), "bars with a value"
    history = await reach(call.state, KLINE, given, asked=days, code=code, what=what, as_of=as_of)
    return Answer(answer, top={**echo_of(as_of), **history})


@router.get("/vpa/{code}", response_model=VolumePrice)
@serves(tables=(KLINE,))
async def quant_vpa(call: Anyone, code: StockCode, as_of: AsOfRead, days: Window = 120) -> Answer:
    """As /stocks/{code}/vpa, without the envelope."""
    return await _vpa(call.state, code, days, as_of)


@router.get("/relative-strength", response_model=RelativeRanking)
@serves(tables=TABLES)
async def relative(
    call: Anyone,
    date: TradeDay,
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
    with noting() as reads:
        day, found = await ranked(call.state, date, benchmark)
        rows = [] if found is None else found.rows(window, industry)
        reads.keep(row["code"] for row in rows[:limit])
    reported = {"date": day, "window": window, "benchmark": benchmark}
    reported |= await reach(call.state, KLINE, len(rows))
    return Answer({**reported, "items": rows[:limit], "total": len(rows)})
