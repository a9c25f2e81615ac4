"""Response models of the live reads, for the document. Field names as in responses."""

from pydantic import BaseModel, ConfigDict, Field, RootModel

from serving_api.framework.openapi import example
from serving_api.framework.row_models import columns_of

_ALIASED = ConfigDict(populate_by_name=True)


class BriefQuote(BaseModel):
    """CNY, percent; `mcap_yi` in 100 million CNY."""

    model_config = example(
        name="瀚岳银行",
        price=15.04,
        open=14.77,
        high=15.09,
        low=14.71,
        last_close=14.58,
        change_pct=3.16,
        turnover_pct=1.39,
        pe_ttm=6.92,
        pb=0.26,
        mcap_yi=45.13,
        limit_up=16.04,
        limit_down=13.12,
    )
    name: str | None
    price: float | None
    open: float | None
    high: float | None
    low: float | None
    last_close: float | None
    change_pct: float | None
    turnover_pct: float | None
    pe_ttm: float | None
    pb: float | None
    mcap_yi: float | None
    limit_up: float | None
    limit_down: float | None


class QuoteMap(RootModel[dict[str, BriefQuote]]):
    """Code -> quote."""


class LimitUp(BaseModel):
    """CNY, percent; times HH:MM:SS, null when unknown; `zt_stat` N天M板 = M boards in N days."""

    code: str
    name: str
    price: float | None
    change_pct: float | None
    amount: float | None
    float_cap: float | None = Field(description="10k CNY")
    turnover_pct: float | None
    limit_days: int | None = Field(description="consecutive boards")
    first_seal: str | None
    last_seal: str | None
    seal_fund: float | None = Field(description="money in the queue at the limit, CNY")
    break_times: int | None
    industry: str | None
    zt_stat: str | None


class IndustryRank(BaseModel):
    """CNY, percent."""

    rank: int
    code: str = Field(description="board code")
    name: str
    change_pct: float | None
    up_count: int | None
    down_count: int | None
    leader_name: str | None
    leader_change_pct: float | None
    amount: float | None
    main_net: float | None


class IndustryEnds(BaseModel):
    """`bottom` begins with the weakest; `total` industries are known."""

    top: list[IndustryRank]
    bottom: list[IndustryRank]
    total: int


class HotStock(BaseModel):
    """CNY, percent."""

    code: str
    name: str
    price: float | None
    change_pct: float | None
    turnover_pct: float | None
    amount: float | None
    reason: str | None = Field(description="topics joined by +")
    tags: list[str]


class BookLevel(BaseModel):
    level: int
    price: float | None
    volume: int = Field(description="shares")


class OrderBook(BaseModel):
    """CNY, percent, shares; {} when the code is unknown."""

    model_config = _ALIASED
    code: str | None = None
    name: str | None = None
    price: float | None = None
    last_close: float | None = None
    open: float | None = None
    high: float | None = None
    low: float | None = None
    change_pct: float | None = None
    volume: int | None = None
    amount: float | None = None
    bids: list[BookLevel] | None = None
    asks: list[BookLevel] | None = None
    inner_vol: int | None = None
    outer_vol: int | None = None
    time: str | None = None
    source: str | None = Field(default=None, alias="_source")


class MinuteBar(BaseModel):
    """`datetime` is the end of the bar; CNY and shares."""

    model_config = example(
        datetime="2026-08-21 09:35:00", open=14.77, high=14.83, low=14.76, close=14.83, volume=326000
    )
    datetime: str
    open: float
    high: float
    low: float
    close: float
    volume: int | None


class ExRight(BaseModel):
    """Per ten shares, CNY and shares; null when the category has no such value."""

    date: str = Field(description="YYYYMMDD")
    category: int
    name: str
    hongli: float | None
    peigujia: float | None
    songzhuangu: float | None
    peigu: float | None


class ExRights(BaseModel):
    code: str
    records: list[ExRight]


@columns_of(
    "fusion_fund_flow",
    "super_large_in super_large_out large_in large_out medium_in medium_out small_in small_out",
)
class FlowSides(BaseModel):
    """Null when the source only has net values."""


class FlowDay(BaseModel):
    """CNY. `main_inflow` is known for stored dates."""

    date: str
    main_inflow: float | None
    main_netflow: float | None


class FundFlow(BaseModel):
    code: str
    today: FlowSides
    history: list[FlowDay]


class FlowMinute(BaseModel):
    """Cumulative since the open, CNY."""

    time: str
    main_net: float | None
    super_net: float | None
    large_net: float | None
    medium_net: float | None
    small_net: float | None


class FlashNews(BaseModel):
    """One item; `importance` 0 plain, 1 marked, 2 red."""

    id: str
    time: str
    title: str
    content: str | None
    source: str | None
    importance: int | None
    codes: list[str]
    url: str | None


class NorthboundMinute(BaseModel):
    """10k CNY."""

    time: str
    hgt: float | None
    sgt: float | None
    total: float | None


class MarketStat(BaseModel):
    """The A shares of the exchanges: CNY, shares, cap in 10k CNY."""

    model_config = example(
        up_count=55,
        down_count=3,
        neutral_count=1,
        suspended_count=0,
        total_count=59,
        limit_up_count=0,
        limit_down_count=0,
        total_amount=12509348423.0,
        total_volume=1334892900,
        total_market_cap=58727900.0,
    )
    up_count: int
    down_count: int
    neutral_count: int
    suspended_count: int
    total_count: int
    limit_up_count: int
    limit_down_count: int
    total_amount: float
    total_volume: int
    total_market_cap: float = Field(description="10k CNY")
