"""/quant/pattern-*: open to anyone, plain."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import IntEnum
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from core.declaration.conditions import equal
from core.errors import InputError
from platform_assets.compute.parameters.pattern_catalogue import DIRECTION_CATALOGUE, METRIC_CATALOGUE
from platform_assets.compute.parameters.patterns import DIRECTIONS, METRICS
from platform_assets.compute.parameters.scorecards import WAIT_DAYS
from platform_assets.compute.pattern_performance import Followed, Outcome, followed, outcomes, summary
from platform_assets.compute.scorecards.prices import Prices
from platform_assets.datasets.pattern_daily import PatternDaily
from resources.warehouse.stored import ANY, stored
from serving_api.db.adjusted_reads import noting
from serving_api.db.rows import newest_of
from serving_api.db.sessions import Session
from serving_api.framework.envelope import PREFIX
from serving_api.framework.history_reach import Reach, reach_of_days
from serving_api.framework.permissions import Anyone
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.quant.outcomes import BARS, INDEX, benchmark, returns


class Year(BaseModel):
    year: int
    samples: int
    win_rate_pct: float | None
    avg_pct: float | None


class Fillable(BaseModel):
    """Without signals whose purchase was not possible."""

    samples: int
    win_rate_pct: float | None
    avg_pct: float | None
    excess_pct: float | None


class Performance(Reach):
    """Returns after a pattern: bought at the open of the next market date (at its close when there is no
    open), sold at the last close of `forward_days` market dates, that of the purchase included."""

    pattern: str
    direction: int
    forward_days: int
    samples: int = Field(
        description="settled signals, including unfillable ones and those that never traded again"
    )
    dates: int = Field(description="distinct dates of them")
    win_rate_pct: float | None = Field(
        description="share of the samples that moved in the direction of the signal"
    )
    avg_pct: float | None = Field(description="mean of the samples that traded again, as the figures below")
    median_pct: float | None
    excess_pct: float | None = Field(description="mean return less that of sh000300 over the same days")
    base_rate_pct: float | None = Field(
        description=(
            "share of all stocks with a change in the signal's direction, bought and sold on "
            "the same dates, each date weighted by its number of signals"
        )
    )
    best_pct: float | None = Field(description="largest return, regardless of the direction")
    worst_pct: float | None
    unfillable: int = Field(
        description="of the samples: bought at the limit-up price, where there are no sellers"
    )
    fillable: Fillable
    by_year: list[Year]


class DirectionEntry(BaseModel):
    key: str
    label: str
    kind: Literal["direction"]
    signs: list[int] = Field(description="its values besides 0")
    description: str
    formula: str
    parameters: dict[str, float] = Field(description="thresholds in force; fractions and bars")


class MetricEntry(BaseModel):
    key: str
    label: str
    kind: Literal["metric"]
    unit: str = Field(description='days, pct, or "" for a stage or a kind')
    description: str
    values: dict[str, str] = Field(description="for a stage or a kind: the meaning of each value")


class PatternCatalogue(BaseModel):
    directions: list[DirectionEntry]
    metrics: list[MetricEntry]


PATTERNS = stored("calc_pattern_daily", PatternDaily)


def hits_of(session: Session, pattern: str, direction: int, since: str, until: str) -> list[tuple[str, str]]:
    """(code, date) of every signal. `pattern` is one of our column names."""
    of = [PATTERNS.c.date >= since, PATTERNS.c.date <= until, ANY[pattern] == direction]
    return [(str(code), str(day)) for code, day in session.rows(PATTERNS, *of, columns=("code", "date"))]


_PART = 250
"""Dates whose bars are in memory at one time."""
_PRICES = (BARS, INDEX)
_Key = tuple[str, int, int, int]
"""Pattern, direction, market dates held, newest trade dates"""


def direction_column(name: str) -> str:
    """`name` if it is one of the 16 directions. Raises InputError for anything else."""
    if name in DIRECTIONS:
        return name
    why = "is a metric, which is a filter and no signal" if name in METRICS else "is no pattern"
    raise InputError("pattern", f"{name[:40]!r} {why}; one of {', '.join(DIRECTIONS)}")


def default_direction(pattern: str) -> int:
    """100, or -100 for a pattern that only points down."""
    return max(next(one for one in DIRECTION_CATALOGUE if one.key == pattern).signs)


async def performance(state: State, pattern: str, direction: int, forward: int, days: int) -> dict[str, Any]:
    """Figures of the signals of the newest `days` trade dates."""
    key = (pattern, direction, forward, days)
    stand = await state.versions.version_of((PATTERNS, *_PRICES))

    async def load(_missing: Sequence[_Key]) -> dict[_Key, dict[str, Any]]:
        prices = await state.versions.version_of(_PRICES)
        found = await state.reading.scan(_outcomes, state, prices.token, pattern, direction, forward, days)
        return {key: summary(found, direction)}

    # One request at a time: ten years are read batch by batch, on one thread.
    held = await state.cache.some("pattern-performance", (key,), stand.token, load, lambda _: 4096)
    return held[key]


def _outcomes(
    session: Session, state: State, token: str | None, pattern: str, direction: int, forward: int, days: int
) -> list[Outcome]:
    """Reads the dates batch by batch, so that ten years of a market need no more memory than one."""
    newest = newest_of(session, BARS)
    if newest is None:
        return []
    requested = state.calendar.last(days, newest)[0]
    dates = state.calendar.last(-(-days // _PART) * _PART, newest)
    found: list[Outcome] = []
    for start in range(0, len(dates), _PART):
        part = dates[start : start + _PART]
        hits = hits_of(session, pattern, direction, max(part[0], requested), part[-1])
        if not hits:
            continue
        is_newest = start + _PART >= len(dates)
        # Signals that never traded, or have no index, are settled when the holding time is over.
        coming = dates[start + _PART : start + _PART + WAIT_DAYS]
        window = _window(session, state, part, coming, forward, token if is_newest else None)
        found += outcomes(window, hits, direction=direction)
    return found


def _window(
    session: Session, state: State, part: list[str], coming: list[str], forward: int, token: str | None
) -> Followed:
    """Outcomes of all codes, cached per version: a client that asks for one pattern asks for the next one."""
    key = (part[0], part[-1], forward)
    known = state.cache.get("pattern-window", key, token)
    if known is None:
        dates = [*part, *coming]
        with noting() as reads:
            panel = returns(session, dates[0], dates[-1], equal("sec_type", "stock"))
        prices = Prices.from_dense(panel, dates)
        known = followed(prices, benchmark(session, dates), len(part), hold=forward)
        state.cache.put("pattern-window", key, token, known, known.nbytes, reads)
    return known


def catalogue() -> dict[str, Any]:
    """The description of every column."""
    return {
        "directions": [{**asdict(one), "kind": "direction"} for one in DIRECTION_CATALOGUE],
        "metrics": [{**asdict(one), "kind": "metric"} for one in METRIC_CATALOGUE],
    }


router = area_router(f"{PREFIX}/quant", "quant")


class ForwardDays(IntEnum):
    """Market dates that a signal is held (`pattern_performance.HORIZONS`)."""

    ONE = 1
    THREE = 3
    FIVE = 5
    TEN = 10


class Sign(IntEnum):
    UP = 100
    DOWN = -100


@router.get("/pattern-performance", response_model=Performance)
@serves(tables=(PATTERNS, *_PRICES))
async def pattern_performance(
    call: Anyone,
    pattern: Annotated[str, Query(description="one of the 16 directions", examples=["double_bottom"])],
    forward_days: Annotated[
        ForwardDays, Query(description="market dates that a signal is held")
    ] = ForwardDays.FIVE,
    days: Annotated[int, Query(ge=20, le=2500, description="newest trade dates")] = 250,
    direction: Annotated[
        Sign | None, Query(description="100 or -100; default 100, of a pattern that only points down -100")
    ] = None,
) -> Answer:
    """The returns after the signals of a pattern. A metric column has no signals: 422."""
    column = direction_column(pattern)
    sign = int(direction or default_direction(column))
    reported = await read_or(
        summary([], sign), performance(call.state, column, sign, int(forward_days), days)
    )
    reached = await reach_of_days(call.state, (PATTERNS,), days)
    return Answer(
        {"pattern": column, "direction": sign, "forward_days": int(forward_days), **reported, **reached}
    )


@router.get("/pattern-catalog", response_model=PatternCatalogue)
async def pattern_catalog(call: Anyone) -> Answer:
    """The meaning, formula and thresholds of each of the 16 directions and 9 metrics."""
    return Answer(catalogue())
