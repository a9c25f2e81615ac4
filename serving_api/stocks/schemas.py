"""Response models of the stocks, for the document."""

from pydantic import BaseModel, Field

from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.stock_master import StockMaster
from platform_assets.datasets.stock_wide import StockWide
from serving_api.framework.openapi import example
from serving_api.framework.row_models import with_columns
from serving_api.stocks.queries import SHOWN
from serving_api.stocks.service import BASE_INFO, DETAIL

# Field names are those of the specification, some of them camelCase.


@with_columns(
    KlineDaily.date, KlineDaily.open.or_null(), KlineDaily.close.or_null(), KlineDaily.high.or_null(),
    KlineDaily.low.or_null(), KlineDaily.volume.or_null(), KlineDaily.amount,
)  # fmt: skip
class KBar(BaseModel):
    """A daily bar: prices adjusted as the answer says."""

    model_config = example(
        date="2026-08-21", open=14.77, close=15.04, high=15.09, low=14.71, volume=3204800, amount=47828396.0
    )


@with_columns(StockWide.code, StockWide.name.not_null(), StockWide.industry, StockWide.market)
class SearchHit(BaseModel):
    model_config = example(
        code="600519", name="贵州茅台", industry="白酒", market="SH", price=0, changePercent=0
    )
    price: float = Field(description="always 0 in search results")
    changePercent: float = Field(description="always 0 in search results")


ChartLines = dict[str, list[float | None]]
"""Line -> its value at each bar of the answer; null where there are not enough bars."""


class PageInfo(BaseModel):
    cur_page: int
    per_page: int
    total: int


class NameReading(BaseModel):
    py: str = Field(description="pinyin initials")
    pinyin: str = Field(description="full spelling")


@with_columns(
    StockMaster.code, StockMaster.name, StockMaster.market.or_null(),
    StockMaster.sec_type.label("secType").or_null(),
)  # fmt: skip
class IndexEntry(BaseModel):
    model_config = example(
        code="600584", name="长电科技", market="SH", py="cdkj", pinyin="changdiankeji", secType="stock",
        pinyinOthers=[{"py": "zdkj", "pinyin": "zhangdiankeji"}],
    )  # fmt: skip
    py: str = Field(description="pinyin initials")
    pinyin: str = Field(description="full spelling")
    pinyinOthers: list[NameReading] = Field(description="other plausible readings of the name")


class HitCount(BaseModel):
    hits: int
    misses: int


class CacheStats(BaseModel):
    hits: int
    misses: int
    hitRate: float
    size: int = Field(description="bytes")
    maxSize: int = Field(description="bytes")
    evictions: int
    byKey: dict[str, HitCount]


@with_columns(*SHOWN)
class Quote(BaseModel):
    """The newest stored quote."""

    model_config = example(
        code="600040", name="瀚岳银行", price=15.04, open=14.77, high=15.09, low=14.71, prevClose=14.58,
        changePercent=3.16, volume=3204800, amount=47828394.96, turnoverRate=1.39, time="2026-08-21 15:00:00",
    )  # fmt: skip
    time: str | None


@with_columns(StockWide.code, *(column for _, columns in DETAIL for column in columns))
class StockDetail(BaseModel):
    """Key figures of one security."""

    model_config = example(
        code="600040", name="瀚岳银行", price=15.04, changePercent=3.16, peRatio=6.92, pbRatio=0.26,
        marketCap=4513243700.0, turnoverRate=1.39, totalShares=300082695, floatShares=230222095,
    )  # fmt: skip
    price: float | None = Field(description="CNY")
    marketCap: float | None = Field(description="CNY")


@with_columns(StockWide.code, *(column for _, columns in BASE_INFO for column in columns))
class BaseInfo(BaseModel):
    """Identity, valuation and newest report of one security."""

    marketCap: float | None = Field(description="CNY")
    floatMarketCap: float | None = Field(description="CNY")
    concepts: list[str]
