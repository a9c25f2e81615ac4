"""Response models of the stocks, for the document."""

from pydantic import BaseModel, Field

from serving_api.framework.openapi import example

# Field names are those of the specification, some of them camelCase.


class KBar(BaseModel):
    """A daily bar: prices adjusted as the answer says, volume in shares, amount in CNY."""

    model_config = example(
        date="2026-08-21", open=14.77, close=15.04, high=15.09, low=14.71, volume=3204800, amount=47828396.0
    )
    date: str
    open: float | None
    close: float | None
    high: float | None
    low: float | None
    volume: int | None
    amount: float | None


class SearchHit(BaseModel):
    model_config = example(
        code="600519", name="贵州茅台", industry="白酒", market="SH", price=0, changePercent=0
    )
    code: str
    name: str
    industry: str | None
    market: str | None
    price: float = Field(description="always 0 in search results")
    changePercent: float = Field(description="always 0 in search results")


class PageInfo(BaseModel):
    cur_page: int
    per_page: int
    total: int


class NameReading(BaseModel):
    py: str = Field(description="pinyin initials")
    pinyin: str = Field(description="full spelling")


class IndexEntry(BaseModel):
    model_config = example(
        code="600584", name="长电科技", market="SH", py="cdkj", pinyin="changdiankeji", secType="stock",
        pinyinOthers=[{"py": "zdkj", "pinyin": "zhangdiankeji"}],
    )  # fmt: skip
    code: str
    name: str
    market: str | None
    py: str = Field(description="pinyin initials")
    pinyin: str = Field(description="full spelling")
    secType: str | None
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


class Quote(BaseModel):
    """The newest stored quote: CNY, percent, shares."""

    model_config = example(
        code="600040",
        name="瀚岳银行",
        price=15.04,
        open=14.77,
        high=15.09,
        low=14.71,
        prevClose=14.58,
        changePercent=3.16,
        volume=3204800,
        amount=47828394.96,
        turnoverRate=1.39,
        time="2026-08-21 15:00:00",
    )
    code: str
    name: str | None
    price: float | None
    open: float | None
    high: float | None
    low: float | None
    prevClose: float | None
    changePercent: float | None
    volume: int | None
    amount: float | None
    turnoverRate: float | None
    time: str | None


class StockDetail(BaseModel):
    """Key figures of one security: price in CNY, changePercent and turnoverRate in percent, marketCap in CNY,
    shares."""

    model_config = example(
        code="600040",
        name="瀚岳银行",
        price=15.04,
        changePercent=3.16,
        peRatio=6.92,
        pbRatio=0.26,
        marketCap=4513243700.0,
        turnoverRate=1.39,
        totalShares=300082695,
        floatShares=230222095,
    )
    code: str
    name: str | None
    price: float | None
    changePercent: float | None
    peRatio: float | None
    pbRatio: float | None
    marketCap: float | None
    turnoverRate: float | None
    totalShares: int | None
    floatShares: int | None


class BaseInfo(BaseModel):
    """Identity, valuation and newest report of one security; caps in CNY, ratios in percent."""

    code: str
    name: str | None
    industry: str | None
    market: str | None
    listDate: str | None
    totalShares: int | None
    floatShares: int | None
    marketCap: float | None
    floatMarketCap: float | None
    peTtm: float | None
    pb: float | None
    psTtm: float | None
    dividendYield: float | None
    roe: float | None
    grossMargin: float | None
    netMargin: float | None
    revenueYoy: float | None
    profitYoy: float | None
    debtRatio: float | None
    eps: float | None
    bvps: float | None
    reportPeriod: str | None
    holderNum: int | None
    concepts: list[str]
