"""Response models of the strength routes."""

from typing import Literal

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach

State = Literal["bullish", "neutral", "bearish", "unknown"]


class VolumePriceFactor(BaseModel):
    key: Literal["sensitivity", "confirmation", "breakout", "divergence"]
    name: str
    score: float | None = Field(description="0..100, 50 neutral; null without enough bars")
    state: State
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
    date: str
    rtsi: float = Field(description="0..100")
    rtsi_ma5: float | None


class StrengthNow(BaseModel):
    date: str | None
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
    date: str | None
    window: int
    benchmark: str
    items: list[RelativeRow] = Field(description="largest excess first")
    total: int = Field(description="stocks with an excess, before the limit")
