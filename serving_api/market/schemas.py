"""Response models of the market reads, for the document. Changes in percent, money in CNY."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from platform_assets.datasets.breadth_sample import BreadthSample
from platform_assets.datasets.fund_flow import FundFlow
from resources.warehouse.stored import stored
from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import IsoDate
from serving_api.framework.row_models import Rows, with_columns

SAMPLES = stored("calc_breadth_sample", BreadthSample)
SAMPLE = (
    BreadthSample.sample_time.label("time"), BreadthSample.up_count.label("up"),
    BreadthSample.down_count.label("down"), BreadthSample.flat_count.label("flat"),
    BreadthSample.limit_up_count.label("limit_up"), BreadthSample.limit_down_count.label("limit_down"),
    BreadthSample.amount.or_null(), BreadthSample.index_change_pct.label("index_change_percent"),
)  # fmt: skip
SOURCE = Field(
    alias="_source",
    description=(
        "origin of the data: tcp_terminal, quote_site_a, finance_portal_a, fusion_stock_wide, "
        "db_history; null for the empty structure"
    ),
)
MOMENT = Field(description="when it was captured; ISO 8601, exchange time")


class Sourced(BaseModel):
    """Fields that every market read has."""

    model_config = ConfigDict(populate_by_name=True)

    timestamp: str = MOMENT
    trade_date: IsoDate | None = Field(description="trade date of the figures; null for the empty structure")
    source: str | None = SOURCE


@with_columns(*SAMPLE)
class BreadthPoint(BaseModel):
    """One 5-minute sample of a session: turnover so far, change of the main index."""


class BreadthSeries(Reach, Rows[BreadthPoint]):
    """Oldest first."""

    days: int = Field(description="trade dates that have samples, of those asked for")


class CalendarDay(BaseModel):
    date: IsoDate
    is_open: bool | None = Field(description="null before the first and after the last day of the calendar")
    is_confirmed: bool = Field(description="published by the exchange; false: by the rules of the holidays")
    holiday_name: str | None


class MarketCalendar(BaseModel):
    """One month; nulls beyond the calendar."""

    today: IsoDate
    is_trade_day: bool | None
    state: str | None = Field(description="pre_open, auction, trading, noon_break, closed, holiday")
    prev_trade_date: IsoDate | None
    next_trade_date: IsoDate | None
    is_confirmed: bool = Field(description="whether all days up to `next_trade_date` are published")
    days: list[CalendarDay]


class MarqueeItem(BaseModel):
    id: str
    time: str
    title: str = Field(description="text from outside: escape it")
    url: str | None
    source: str | None
    related: bool = Field(description="it contains the requested code or name")


class Marquee(Rows[MarqueeItem]):
    """Newest first."""


class FieldChange(BaseModel):
    field: str
    old: Any
    new: Any


class Comparison(BaseModel):
    """Differences from the previous version; the first version has none."""

    entity_type: str
    entity_id: str
    first: bool
    changed: bool
    added: dict[str, Any]
    removed: dict[str, Any]
    changed_fields: list[FieldChange]
    previous_at: str | None
    version: int


class ChangeRecord(BaseModel):
    entity_id: str
    detected_at: str
    added: int
    removed: int
    changed: int
    version: int
    changes: list[FieldChange]


class ChangeHistory(Rows[ChangeRecord]):
    """Newest first."""

    entity_type: str


class OverviewSector(BaseModel):
    """One industry among the five strongest and the five weakest."""

    code: str
    name: str
    change_percent: float
    rank: int


class Overview(BaseModel):
    """Sentiment, money flow, hot stocks and the tree map have routes of their own."""

    sectors: list[OverviewSector]
    limit_up: int | None
    limit_down: int | None
    timestamp: str = MOMENT


class IndexChange(BaseModel):
    code: str
    name: str
    price: float | None = Field(description="points")
    change_percent: float | None


class IndexLevel(IndexChange):
    """A main index with its turnover."""

    change: float | None = Field(description="points")
    amount: float | None = Field(description="CNY")


class Indices(Sourced):
    indices: list[IndexLevel]


class Breadth(BaseModel):
    """Stocks that trade."""

    up: int | None
    down: int | None
    flat: int | None
    total: int | None


class Sentiment(Sourced):
    indices: list[IndexChange]
    breadth: Breadth
    sentiment_score: float | None = Field(description="0..100")
    sentiment_label: str | None = Field(description="亢奋, 乐观, 中性, 谨慎, 恐慌")
    monthly_change_percent: float | None = Field(description="main index over 22 trade days")
    sample_based: bool = Field(description="breadth of a sample of about 50 stocks")


class ChangeBucket(BaseModel):
    range: str = Field(description="percent")
    count: int


class Distribution(Sourced):
    up: int | None
    flat: int | None
    down: int | None
    limit_up: int | None
    limit_down: int | None
    total: int | None = Field(description="listed stocks, suspended ones too")
    suspended: int | None
    buckets: list[ChangeBucket]


class RankedIndustry(OverviewSector):
    leader_name: str | None
    leader_change_percent: float | None


class StrongestWeakest(Sourced):
    """The five strongest, and the five weakest with the weakest first."""

    top: list[RankedIndustry]
    bottom: list[RankedIndustry]


@with_columns(FundFlow.super_net, FundFlow.large_net, FundFlow.medium_net, FundFlow.small_net)
class MarketFlow(Sourced):
    total_amount: float | None = Field(description="turnover of the session, CNY")
    prev_total_amount: float | None = Field(description="turnover of the session before, CNY")
    main_net_inflow: float | None = Field(description="CNY")
    seal_success_rate: float | None = Field(description="limit-ups that hold, percent of those touched")
    limit_up: int | None
    broken: int | None


class RiskCoverage(BaseModel):
    used: int
    total: int


class JudgedRule(BaseModel):
    """One of nine rules."""

    key: str
    group: str = Field(description="domestic or external")
    name: str
    value: float | None
    calm: float = Field(description="scores 0")
    threshold: float = Field(description="scores 100")
    score: float | None = Field(description="0..100; null where it does not count")
    status: str = Field(description="ok, stale or missing")
    as_of: str | None


class CrossMarketRisk(BaseModel):
    """Mean of the known rules; null with fewer than three."""

    temperature: float | None = Field(description="0..100")
    level: str | None = Field(description="low, mid, high, extreme")
    confidence: float = Field(description="share of the nine rules that is known")
    coverage: RiskCoverage
    rules: list[JudgedRule]
    reason: str | None
    timestamp: str = MOMENT


class ChainNode(BaseModel):
    id: str
    name: str = Field(description="text from outside: escape it")
    type: str = Field(description="event, theme, sector or stock")
    weight: int = Field(description="flashes that mention it; not part of any score")


class ChainEdge(BaseModel):
    source: str
    target: str
    weight: int


class ChainItem(BaseModel):
    title: str = Field(description="text from outside: escape it")
    time: str


class EventChain(BaseModel):
    """Today's flashes and what they name, newest and most mentioned first."""

    nodes: list[ChainNode]
    edges: list[ChainEdge]
    items: list[ChainItem]
    timestamp: str = MOMENT


class BriefFact(BaseModel):
    label: str
    value: str | None


class Brief(BaseModel):
    date: str = Field(description="moment of the picture, to the minute")
    trade_date: IsoDate | None = Field(description="trade date of every figure")
    title: str
    facts: list[BriefFact]
    note: str | None = Field(description="why there is no picture")


class ShareBrief(BaseModel):
    """A picture to share, and its content as text."""

    svg: str | None = Field(description="null without any data")
    width: int
    height: int
    brief: Brief
