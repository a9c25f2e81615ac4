"""Response models of the live reads, for the document. Field names as in responses."""

from pydantic import BaseModel, ConfigDict, Field, RootModel

from serving_api.framework.openapi import example
from serving_api.framework.row_models import columns_of
from serving_api.live.admin_reads.market import LIMIT_UP

_ALIASED = ConfigDict(populate_by_name=True)


@columns_of(
    "raw_quote", "name price open high low last_close change_pct turnover_pct pe_ttm pb limit_up limit_down"
)
class BriefQuote(BaseModel):
    model_config = example(
        name="瀚岳银行", price=15.04, open=14.77, high=15.09, low=14.71, last_close=14.58, change_pct=3.16,
        turnover_pct=1.39, pe_ttm=6.92, pb=0.26, mcap_yi=45.13, limit_up=16.04, limit_down=13.12,
    )  # fmt: skip
    mcap_yi: float | None = Field(description="market cap, 100m CNY")


class QuoteMap(RootModel[dict[str, BriefQuote]]):
    """Code -> quote."""


@columns_of("raw_limit_pool", LIMIT_UP)
class LimitUp(BaseModel):
    """Times HH:MM:SS, null when unknown; `zt_stat` N天M板 = M boards in N days."""


@columns_of(
    "fusion_market_cloud_map", "name change_pct up_count down_count leader_name leader_change_pct main_net"
)
class IndustryRank(BaseModel):
    rank: int
    code: str = Field(description="board code")
    amount: float | None = Field(description="CNY")


class IndustryEnds(BaseModel):
    """`bottom` begins with the weakest; `total` industries are known."""

    top: list[IndustryRank]
    bottom: list[IndustryRank]
    total: int


@columns_of("raw_quote", "code name! price change_pct turnover_pct amount")
class HotStock(BaseModel):
    reason: str | None = Field(description="topics joined by +")
    tags: list[str]


class BookLevel(BaseModel):
    level: int
    price: float | None
    volume: int = Field(description="shares")


@columns_of(
    "fusion_quote_snapshot", "code* name* price* last_close* open* high* low* change_pct* volume* amount*"
)
class OrderBook(BaseModel):
    """CNY, percent, shares; {} when the code is unknown."""

    model_config = _ALIASED
    bids: list[BookLevel] | None = None
    asks: list[BookLevel] | None = None
    inner_vol: int | None = None
    outer_vol: int | None = None
    time: str | None = None
    source: str | None = Field(default=None, alias="_source")


@columns_of("raw_minute_kline", "datetime open high low close volume?")
class MinuteBar(BaseModel):
    """`datetime` is the end of the bar."""

    model_config = example(
        datetime="2026-08-21 09:35:00", open=14.77, high=14.83, low=14.76, close=14.83, volume=326000
    )


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


@columns_of("raw_fund_flow", "main_net super_net large_net medium_net small_net")
class FlowMinute(BaseModel):
    """Cumulative since the open."""

    time: str


@columns_of("raw_news_flash", "id=flash_id time=pub_time title content source=media importance url")
class FlashNews(BaseModel):
    """One item; `importance` 0 plain, 1 marked, 2 red."""

    codes: list[str]


class NorthboundMinute(BaseModel):
    """10k CNY."""

    time: str
    hgt: float | None
    sgt: float | None
    total: float | None


@columns_of("calc_breadth_sample", "up_count down_count limit_up_count limit_down_count")
class MarketStat(BaseModel):
    """The A shares of the exchanges: CNY, shares, cap in 10k CNY."""

    model_config = example(
        up_count=55, down_count=3, neutral_count=1, suspended_count=0, total_count=59, limit_up_count=0,
        limit_down_count=0, total_amount=12509348423.0, total_volume=1334892900, total_market_cap=58727900.0,
    )  # fmt: skip
    neutral_count: int
    suspended_count: int
    total_count: int
    total_amount: float
    total_volume: int
    total_market_cap: float = Field(description="10k CNY")
