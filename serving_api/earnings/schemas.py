"""Response models of the earnings window."""

from typing import Literal

from pydantic import BaseModel, Field


class Counts(BaseModel):
    """Companies."""

    scheduled: int
    disclosed: int
    forecast: int
    express: int


class Upcoming(BaseModel):
    code: str
    name: str | None
    date: str


class Forecasts(BaseModel):
    """Companies by the kind of their net profit forecast."""

    up: int = Field(description="预增, 略增, 续盈, 减亏")
    down: int = Field(description="预减, 略减, 续亏, 增亏")
    turn: int = Field(description="扭亏")
    first_loss: int = Field(description="首亏")


class Expected(BaseModel):
    code: str
    name: str | None
    change_pct_mid: float = Field(description="net profit, year on year, mean of both ends")
    predict_type: str | None


class Window(BaseModel):
    period: str
    phase: Literal["pre", "in", "post"] = Field(description="before, within and after the legal term")
    counts: Counts
    upcoming: list[Upcoming] = Field(description="planned within `days`, nearest first, at most 500")
    forecasts: Forecasts
    top: list[Expected] = Field(description="the largest expected changes, at most 20")
    latestDate: str | None = Field(description="the newest report, forecast or express report")
