"""Shapes of the stock answers, for the document."""

from pydantic import BaseModel, Field

# Field names are those of the wire, camelCase where the specification has it so.


class KBar(BaseModel):
    """A daily bar: prices adjusted as the answer says, volume in shares, amount in CNY."""

    date: str
    open: float | None
    close: float | None
    high: float | None
    low: float | None
    volume: int | None
    amount: float | None


class SearchHit(BaseModel):
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


class IndexEntry(BaseModel):
    code: str
    name: str
    market: str | None
    py: str = Field(description="pinyin initials")
    pinyin: str = Field(description="full spelling")
    secType: str | None


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


class Detail(BaseModel):
    """Key figures of one security; marketCap in CNY."""

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
