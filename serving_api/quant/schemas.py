"""Response models of the daily calculations."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import example
from serving_api.framework.row_models import row_model
from serving_api.quant.queries import CHIPS, PATTERNS


class IndicatorSeries(Reach):
    code: str
    price_basis: str = Field(description="adjustment of the prices behind the indicators")
    items: list[dict[str, Any]] = Field(description="rows of calc_indicator_daily, oldest first")


class PatternHit(BaseModel):
    pattern: str
    direction: Literal[100, -100]


class PatternRow(row_model(PATTERNS)):  # type: ignore[misc]
    hits: list[PatternHit] = Field(description="the directions that fired on the day")


class Patterns(Reach):
    code: str
    items: list[PatternRow] = Field(description="days on which a structure was present, oldest first")


class Bucket(BaseModel):
    price: float = Field(description="CNY, adjusted as of the date")
    ratio: float = Field(description="share of the float, percent")


class Chips(Reach):
    code: str
    date: str | None = Field(description="null where nothing is stored")
    close: float | None = None
    profit_ratio_pct: float | None = None
    avg_cost: float | None = None
    cost_90: list[float | None] = Field(description="[low, high], CNY")
    concentration_90_pct: float | None = None
    cost_70: list[float | None] = Field(description="[low, high], CNY")
    concentration_70_pct: float | None = None
    distribution: list[Bucket] = Field(description="buckets above 0.01 %; only of the newest 60 trade dates")
    items: list[row_model(CHIPS)] = Field(description="oldest first")  # type: ignore[valid-type]


class SignalItem(BaseModel):
    code: str
    name: str | None
    signal_key: str
    label: str | None = Field(description="name of the signal or pattern")
    measure: str | None = Field(description="measure of the strength; null for patterns")
    direction: int = Field(description="1 up, -1 down, 0 neither")
    strength: float | None = Field(description="in the measure of the signal; null for patterns")
    price: float | None = Field(description="closing price, CNY")
    change_pct: float | None


class SignalPool(Reach):
    date: str | None
    items: list[SignalItem]
    total: int = Field(description="matching signals, including those beyond the limit")
    by_signal: dict[str, int] = Field(description="signals of the date by kind, before any filter")


class RecalculationRequest(BaseModel):
    model_config = example(date="2026-08-21", parts=["indicators"])
    date: str | None = Field(default=None, description="trade date; default the newest complete one")
    codes: list[str] = Field(default_factory=list, max_length=500, description="6-digit codes; default all")
    parts: list[Literal["indicators", "patterns", "cyq"]] = Field(
        default_factory=list, description="default: everything, with signals and strategies"
    )


class RecalcAccepted(BaseModel):
    status: Literal["accepted"]
    command_id: int
    message: str
