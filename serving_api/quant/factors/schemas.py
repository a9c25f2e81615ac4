"""Request and response models of the factors."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from platform_assets.compute.factors.definitions import FACTORS, KEYS
from platform_assets.datasets.factor_score import FactorScore
from serving_api.framework.display_fields import Display18
from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.parameters import Code
from serving_api.framework.row_models import with_columns

Mark = Literal["real", "proxy", "partial"]
Direction = Literal["high", "low", "mixed"]


class FactorInput(BaseModel):
    field: str = Field(description="column of the wide table")
    label: str
    direction: Literal["high", "low"]


class FactorHead(BaseModel):
    key: str
    label: str
    mark: Mark = Field(description="proxy: measures something similar; partial: inputs are missing")
    weight: float


class FactorLegend(FactorHead):
    direction: Direction
    inputs: list[FactorInput]
    note: str


class Factors(BaseModel):
    items: list[FactorLegend]
    total: int


class RegisteredFactor(FactorHead):
    direction: Direction
    inputs: list[str]


class RegisteredFactors(BaseModel):
    items: list[RegisteredFactor]
    total: int


class FilterShown(BaseModel):
    factor: str
    min: float | None = None
    max: float | None = None


class UniverseHint(BaseModel):
    industries: list[str]


class PresetShown(BaseModel):
    key: str
    label: str
    desc: str
    rationale: str
    watchOut: str
    filters: list[FilterShown]
    sort: str
    limit: int
    universeHint: UniverseHint | None = None
    minComposite: float | None = None


class Presets(BaseModel):
    items: list[PresetShown]


class Gate(BaseModel):
    passed: bool
    blocked: bool
    code: str | None
    reason: str | None
    warnings: list[str]


# -- a screen ---------------------------------------------------------------------------------------

Score = Annotated[float, Field(ge=0, le=100)]


class Filter(BaseModel):
    factor: str = Field(description=f"one of {', '.join(KEYS)}")
    min: Score | None = None
    max: Score | None = None


class Universe(BaseModel):
    """`codes`, `industries` and `market` define what is ranked; ST stocks are only left out of the answer."""

    codes: list[Code] | None = Field(default=None, min_length=1, max_length=6000)
    industries: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        default=None, max_length=200, description="names, of any classification; [] is no limit"
    )
    market: list[Literal["SH", "SZ", "BJ"]] | None = Field(default=None, description="[] is no limit")
    exclude_st: bool = True


class ScreenBody(BaseModel):
    model_config = example(preset="valueDeep", filters=[{"factor": "value", "min": 70}], pageSize=20)
    preset: str | None = Field(default=None, description="key of a preset")
    filters: list[Filter] = Field(
        default_factory=list, max_length=50, description="replace the preset's on the same factor"
    )
    universe: Universe = Field(default_factory=Universe)
    weights: dict[str, Annotated[float, Field(ge=0, le=1000)]] = Field(
        default_factory=dict, description="weights of factors in the composite; default the legend's"
    )
    minComposite: Score | None = None
    limit: int | None = Field(
        default=None, ge=1, le=500, description="rows before paging; default the preset's"
    )
    sort: str | None = Field(
        default=None, description="composite (the default), a factor, or a number of the rows"
    )
    order: Literal["asc", "desc"] = "desc"
    page: int = Field(default=1, ge=1, le=1_000_000)
    pageSize: int = Field(default=50, ge=10, le=200)
    gate: bool = Field(default=True, description="leave out stocks that a hard gate blocks")
    date: str | None = Field(default=None, description="trade date; default the newest stored")
    as_of: str | None = Field(default=None, description="answer with the data known at this instant")


class Ranked(Display18):
    """The display fields, and the results of the screen for the stock."""

    composite: float | None
    scores: dict[str, float | None] = Field(description="by factor, 0..100; null when inputs are missing")
    coverage: float = Field(description="weight of the available factors, as a share of all")
    gate: Gate


class Screened(Reach):
    items: list[Ranked]
    total: int = Field(description="rows of all pages")
    page: int
    pageSize: int
    date: IsoDate | None
    universe_size: int = Field(description="stocks that were ranked")
    marks: dict[str, Mark]
    as_of: str | None = None


MARKS = {factor.key: factor.mark for factor in FACTORS}


# -- one stock --------------------------------------------------------------------------------------


class PresetHit(BaseModel):
    preset_key: str
    label: str
    rank: int | None = Field(description="rank among the stocks selected in the whole market")
    passed: bool
    failed_filters: list[dict[str, Any]] = Field(
        description="{factor, min?, max?, score}; factor may also be composite, industry or gate"
    )


@with_columns(FactorScore.code, FactorScore.trade_date.label("date").or_null(), FactorScore.composite)
class PresetHits(Reach):
    hits: list[PresetHit]
    scores: dict[str, float | None]
    as_of: str | None = None


class Owner(BaseModel):
    table: str
    column: str


class Cell(BaseModel):
    """One input: its cell in the wide table, and its rank among the valid values of the market."""

    field: str
    label: str
    direction: Literal["high", "low"]
    value: float | None
    rank: float | None = Field(description="mean rank from 1 on")
    count: int = Field(description="valid values in the market")
    percentile: float | None = Field(description="rank / count, or 1 minus that where low is good")
    note: str | None = Field(description="why it is not counted")
    table: str
    date: IsoDate | None = Field(description="trade date, or report period of a figure of a report")
    owner: Owner | None = Field(description="column or table that the wide row takes it from")


class FactorPart(FactorHead):
    effective_weight: float = Field(description="its share of the composite")
    score: float | None
    inputs: list[Cell]


class Breakdown(Reach):
    """Unrounded. An unknown code, or one without a bar, has no factors."""

    code: str
    name: str | None
    date: IsoDate | None
    report_period: str | None
    universe_size: int
    composite: float | None
    covered_weight: float | None
    factors: list[FactorPart]
    gate: Gate | None
    as_of: str | None = None


# -- how factors did --------------------------------------------------------------------------------


class FactorRecord(BaseModel):
    key: str
    label: str
    ic_mean: float | None
    ic_std: float | None
    ir: float | None
    t_stat: float | None = Field(description="Newey and West: not inflated by overlapping windows")
    t_stat_simple: float | None = Field(description="ir * sqrt(days), as if the dates were independent")
    positive_rate: float | None
    coverage: float | None = Field(description="share of the cells with a return that have a score")
    quintile_spread_pct: float | None = Field(description="best fifth minus worst fifth, percent")
    days: int = Field(description="dates that were counted")


class FactorBench(BaseModel):
    forward_days: int
    sample_days: int = Field(description="dates with a known return")
    lags: int = Field(description="lags of t_stat, for a factor that is known on all of them")
    note: str
    items: list[FactorRecord]
    total: int
