"""Response models of the index series, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach


class IndicatorDay(BaseModel):
    """Points; null where there are not enough bars."""

    date: str
    close: float
    ma5: float | None
    ma10: float | None
    ma20: float | None
    ma60: float | None
    dif: float | None = Field(description="EMA12 - EMA26")
    dea: float | None = Field(description="EMA9 of dif")
    macd: float | None = Field(description="2 x (dif - dea)")
    k: float | None = Field(description="0..100")
    d: float | None = Field(description="0..100")
    j: float | None = Field(description="3k - 2d")
    boll_upper: float | None = Field(description="mean of 20 + twice the sample deviation")
    boll_mid: float | None
    boll_lower: float | None
    rsi14: float | None = Field(description="0..100")


class IndexIndicators(Reach):
    """Oldest first; `latest` is the last of the items, {} when there are none."""

    code: str
    name: str | None
    items: list[IndicatorDay]
    latest: dict[str, object] = Field(description="the newest item")
    as_of: str | None = Field(default=None, description="the requested instant")


class IndexDay(BaseModel):
    date: str
    close: float
    change_percent: float | None


class IndexExtreme(BaseModel):
    """{} when no change is known."""

    date: str | None = None
    change_percent: float | None = None


class IndexMonth(BaseModel):
    month: str = Field(description="YYYY-MM")
    change_percent: float = Field(description="of the dates shown")


class IndexSummary(BaseModel):
    up_days: int
    down_days: int
    best: IndexExtreme
    worst: IndexExtreme
    by_month: list[IndexMonth]
    win_rate_pct: float | None = Field(description="up days / days with a change, percent")


class IndexCalendar(Reach):
    """Oldest first."""

    code: str
    name: str | None
    items: list[IndexDay]
    summary: IndexSummary
