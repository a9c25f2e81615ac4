"""Response models of the live reads, for the document. Field names as in responses."""

from pydantic import BaseModel, ConfigDict, Field, RootModel

from platform_assets.datasets.breadth_sample import BreadthSample
from platform_assets.datasets.fund_flow import FundFlow as StoredFundFlow
from platform_assets.datasets.market_cloud_map import MarketCloudMap
from platform_assets.datasets.minute_kline import RawMinuteKline
from platform_assets.datasets.news_flash import NewsFlash
from platform_assets.datasets.quote_snapshot import QuoteSnapshot, RawQuote
from serving_api.framework.openapi import IsoDate, example
from serving_api.framework.row_models import with_columns
from serving_api.live.admin_reads.market import LIMIT_UP

_ALIASED = ConfigDict(populate_by_name=True)


@with_columns(
    RawQuote.name, RawQuote.price, RawQuote.open, RawQuote.high, RawQuote.low, RawQuote.last_close,
    RawQuote.change_pct, RawQuote.turnover_pct, RawQuote.pe_ttm, RawQuote.pb, RawQuote.limit_up,
    RawQuote.limit_down,
)  # fmt: skip
class BriefQuote(BaseModel):
    model_config = example(
        name="瀚岳银行", price=15.04, open=14.77, high=15.09, low=14.71, last_close=14.58, change_pct=3.16,
        turnover_pct=1.39, pe_ttm=6.92, pb=0.26, mcap_yi=45.13, limit_up=16.04, limit_down=13.12,
    )  # fmt: skip
    mcap_yi: float | None = Field(description="market cap, 100m CNY")


class QuoteMap(RootModel[dict[str, BriefQuote]]):
    """Code -> quote."""


@with_columns(*LIMIT_UP)
class LimitUp(BaseModel):
    """Times HH:MM:SS, null when unknown; `zt_stat` N天M板 = M boards in N days."""


@with_columns(
    MarketCloudMap.name, MarketCloudMap.change_pct, MarketCloudMap.up_count, MarketCloudMap.down_count,
    MarketCloudMap.leader_name, MarketCloudMap.leader_change_pct, MarketCloudMap.main_net,
)  # fmt: skip
class IndustryRank(BaseModel):
    rank: int
    code: str = Field(description="board code")
    amount: float | None = Field(description="CNY")


class IndustryEnds(BaseModel):
    """`bottom` begins with the weakest; `total` industries are known."""

    top: list[IndustryRank]
    bottom: list[IndustryRank]
    total: int


@with_columns(
    RawQuote.code, RawQuote.name.not_null(), RawQuote.price, RawQuote.change_pct, RawQuote.turnover_pct,
    RawQuote.amount,
)  # fmt: skip
class HotStock(BaseModel):
    reason: str | None = Field(description="topics joined by +")
    tags: list[str]


class BookLevel(BaseModel):
    level: int
    price: float | None
    volume: int = Field(description="shares")


@with_columns(
    QuoteSnapshot.code.or_missing(), QuoteSnapshot.name.or_missing(), QuoteSnapshot.price.or_missing(),
    QuoteSnapshot.last_close.or_missing(), QuoteSnapshot.open.or_missing(), QuoteSnapshot.high.or_missing(),
    QuoteSnapshot.low.or_missing(), QuoteSnapshot.change_pct.or_missing(), QuoteSnapshot.volume.or_missing(),
    QuoteSnapshot.amount.or_missing(),
)  # fmt: skip
class OrderBook(BaseModel):
    """CNY, percent, shares; {} when the code is unknown."""

    model_config = _ALIASED
    bids: list[BookLevel] | None = None
    asks: list[BookLevel] | None = None
    inner_vol: int | None = None
    outer_vol: int | None = None
    time: str | None = None
    source: str | None = Field(default=None, alias="_source")


@with_columns(
    RawMinuteKline.datetime, RawMinuteKline.open, RawMinuteKline.high, RawMinuteKline.low,
    RawMinuteKline.close, RawMinuteKline.volume.or_null(),
)  # fmt: skip
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


@with_columns(
    StoredFundFlow.super_large_in, StoredFundFlow.super_large_out, StoredFundFlow.large_in,
    StoredFundFlow.large_out, StoredFundFlow.medium_in, StoredFundFlow.medium_out, StoredFundFlow.small_in,
    StoredFundFlow.small_out,
)  # fmt: skip
class FlowSides(BaseModel):
    """Null when the source only has net values."""


class FlowDay(BaseModel):
    """CNY. `main_inflow` is known for stored dates."""

    date: IsoDate
    main_inflow: float | None
    main_netflow: float | None


class FundFlow(BaseModel):
    code: str
    today: FlowSides
    history: list[FlowDay]


@with_columns(
    StoredFundFlow.main_net.or_null(), StoredFundFlow.super_net, StoredFundFlow.large_net,
    StoredFundFlow.medium_net, StoredFundFlow.small_net,
)  # fmt: skip
class FlowMinute(BaseModel):
    """Cumulative since the open."""

    time: str


@with_columns(
    NewsFlash.flash_id.label("id"), NewsFlash.pub_time.label("time"), NewsFlash.title, NewsFlash.content,
    NewsFlash.media.label("source"), NewsFlash.importance, NewsFlash.url,
)  # fmt: skip
class FlashNews(BaseModel):
    """One item; `importance` 0 plain, 1 marked, 2 red."""

    codes: list[str]


class NorthboundMinute(BaseModel):
    """10k CNY."""

    time: str
    hgt: float | None
    sgt: float | None
    total: float | None


@with_columns(
    BreadthSample.up_count, BreadthSample.down_count, BreadthSample.limit_up_count,
    BreadthSample.limit_down_count,
)  # fmt: skip
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
