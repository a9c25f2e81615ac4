"""Response models of the patterns, for the document."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


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
