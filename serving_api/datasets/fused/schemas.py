"""Response models of the fused layer, for the document. Rows hold the named fields first, then every other
column of the fused row."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from serving_api.admin.records import SyncLog
from serving_api.framework.openapi import example

Code = Annotated[str, StringConstraints(pattern=r"^[0-9]{6}$")]
_OPEN = ConfigDict(extra="allow")


class SyncRequest(BaseModel):
    """No body, or none of these keys: the whole market."""

    model_config = example(extra="forbid", codes=["600519", "000001"])
    codes: list[Code] | None = Field(default=None, min_length=1, max_length=500)


class SyncAccepted(BaseModel):
    status: Literal["accepted"]
    mode: Literal["full_market", "codes"]
    message: str
    codes: list[str] = Field(description="[] for the whole market")
    command_id: int
    batch_id: str | None


class Master(BaseModel):
    """Shares; then the other columns of fusion_stock_master."""

    model_config = _OPEN
    code: str
    name: str | None
    total_shares: int | None
    float_shares: int | None
    quality: str | None


class Profile(BaseModel):
    model_config = _OPEN
    code: str


class Finance(BaseModel):
    """CNY; per share CNY."""

    model_config = _OPEN
    report_period: str
    revenue: float | None
    net_profit: float | None
    eps: float | None
    bvps: float | None


class StockRecord(BaseModel):
    code: str
    master: Master | None
    profile: Profile | None
    finance: list[Finance] = Field(description="newest first, at most 8")
    latest_finance: Finance | None
    quality: dict[str, str | None]


class ValuationRow(BaseModel):
    """Caps in 10k CNY."""

    model_config = _OPEN
    code: str
    pe_ttm: float | None
    pb: float | None
    total_market_cap: float | None
    price: float | None
    as_of_date: str
    quality: str | None


class Snapshot(BaseModel):
    """Price in CNY, cap in 10k CNY."""

    date: str
    price: float | None
    pe_ttm: float | None
    pb: float | None
    total_market_cap: float | None


class Valuation(BaseModel):
    code: str
    valuation: ValuationRow
    snapshots: list[Snapshot] = Field(description="the newest, oldest first")
    total_snapshots: int


class IndustryRow(BaseModel):
    model_config = _OPEN
    code: str
    name: str | None
    industry: str | None
    em_industry: str | None
    tdx_industry: str | None
    sw_l1: str | None
    sw_l2: str | None
    quality: str | None


class MarginRow(BaseModel):
    """CNY; `fin_ratio_pct` percent of the float market cap, `loan_volume` shares."""

    model_config = _OPEN
    date: str
    rzye: float | None
    rzmre: float | None
    rqye: float | None
    rzrqye: float | None
    fin_ratio_pct: float | None
    loan_volume: int | None


class HolderRow(BaseModel):
    """`change_ratio` percent since the count before, `avg_shares` A shares per holder; then `ann_date` of the
    notice, `avg_market_cap` CNY per holder, `total_shares` A shares, `interval_change_pct` percent."""

    model_config = _OPEN
    date: str
    holder_num: int | None
    change_num: int | None
    change_ratio: float | None
    avg_shares: float | None


class DividendRow(BaseModel):
    """Before tax, per 10 shares: `bonus_rmb` CNY, `transfer_ratio` shares from reserves, `bonus_ratio` shares
    from profit. `dividend_yield` and `payout_ratio` percent, `total_cash` CNY. No `ex_date` before the notice
    of the implementation."""

    model_config = _OPEN
    ex_date: str | None
    bonus_rmb: float | None
    transfer_ratio: float | None
    bonus_ratio: float | None
    progress: str | None


class AnnouncementRow(BaseModel):
    """`category`, `importance` 1..3 and the other columns of fusion_announcement follow."""

    model_config = _OPEN
    pub_date: str = Field(description="disclosure date")
    title: str
    ann_type: str | None
    url: str | None
    quality: str | None


class NewsRow(BaseModel):
    """`source` is the medium; `target_price` and EPS forecasts (CNY) and `sentiment` -1, 0, 1 follow."""

    model_config = _OPEN
    pub_time: str
    title: str
    content: str | None
    source: str | None
    url: str | None
    news_type: Literal["news", "research"]
    rating: str | None
    researcher: str | None
    quality: str | None


class DragonTigerRow(BaseModel):
    """`net_buy`, `buy_amt`, `sell_amt` and the other sums of seats in 10k CNY, `amount` and `close` in CNY,
    `turnover` and changes in percent. The sums of several reasons of one date overlap."""

    model_config = _OPEN
    date: str
    reason: str
    net_buy: float | None
    turnover: float | None
    close: float | None
    next_change_pct: float | None = Field(description="null until the next session has closed")
    buy_amt: float | None
    sell_amt: float | None
    quality: str | None


class BlockTradeRow(BaseModel):
    """CNY; volume in shares, `premium_pct` percent of the close."""

    model_config = _OPEN
    date: str
    buyer: str | None
    seller: str | None
    price: float | None
    volume: int | None
    close: float | None
    premium_pct: float | None
    amount: float | None
    quality: str | None


class Release(BaseModel):
    """Shares; `ratio_pct` percent of all shares, `market_value` CNY at the newest close."""

    date: str
    type: str
    shares: int | None
    able_shares: int | None
    ratio_pct: float | None
    market_value: float | None


class PeriodBar(BaseModel):
    """CNY; volume in shares; `bar_count` trade dates inside. `date` is the last trade date of the period,
    also of an unfinished one; `last_date` the newest trade date in the bar, null for bars stored before
    this column existed."""

    model_config = example(
        period="week",
        date="2026-08-21",
        last_date="2026-08-21",
        is_closed=True,
        open=14.42,
        close=15.04,
        high=15.09,
        low=13.81,
        volume=13083800,
        amount=188749972.0,
        bar_count=5,
        quality="ok",
    )
    period: str
    date: str
    last_date: str | None
    is_closed: bool
    open: float | None
    close: float | None
    high: float | None
    low: float | None
    volume: int | None
    amount: float | None
    bar_count: int | None
    quality: str | None


class IndexBar(BaseModel):
    """Points; volume in shares, amount in CNY."""

    model_config = example(
        code="sh000001",
        date="2026-08-21",
        name="上证指数",
        open=2977.21,
        close=3075.01,
        high=3093.26,
        low=2976.07,
        volume=509325900,
        amount=2845178100.0,
        quality="ok",
    )
    code: str
    date: str
    name: str | None
    open: float | None
    close: float | None
    high: float | None
    low: float | None
    volume: int | None
    amount: float | None
    quality: str | None


class Core(BaseModel):
    """Shares; report figures in CNY, `eps` and `bvps` CNY per share, `roe` in percent."""

    code: str
    name: str | None
    market: str | None
    total_shares: int | None
    float_shares: int | None
    industry: str | None
    report_period: str | None
    revenue: float | None
    net_profit: float | None
    eps: float | None
    bvps: float | None
    roe: float | None
    quality: str | None


class Cores(BaseModel):
    stocks: list[Core]
    total: int


class TableState(BaseModel):
    rows: int
    ok: int
    warning: int
    latestDate: str | None
    latestUpdate: str | None


class Quality(BaseModel):
    ok: int
    warning: int
    okRatio: float | None


class Lock(BaseModel):
    held: bool
    holder: str | None
    since: str | None


class Status(BaseModel):
    tables: dict[str, TableState]
    quality: Quality
    locks: dict[str, Lock]
    recent_tasks: list[SyncLog]
    running: bool


class Param(BaseModel):
    name: str
    type: str
    required: bool
    default: Any
    description: str


class Entry(BaseModel):
    """One read-only interface."""

    name: str
    dimension: Literal["stock", "timeseries", "market"]
    params: list[Param]
    returns: str
    ttl: int = Field(description="seconds")
    description: str


class SourceProof(BaseModel):
    """One upstream of an interface, and the evidence for our reading of its responses."""

    table: str
    source: str
    evidence: Literal["recorded", "witnessed", "assumed"] = Field(
        description="a real response is stored; a client by others reads the same fields; neither"
    )


class Hit(BaseModel):
    name: str
    dimension: Literal["stock", "timeseries", "market"]
    score: float
    description: str
    params: list[Param]
    evidence: list[SourceProof] = Field(description="of the datasets' own sources, in the order asked")


class Call(BaseModel):
    model_config = example(extra="forbid", interface="get_kline_daily", params={"code": "600519", "limit": 5})
    interface: str = Field(min_length=1, max_length=128, description="a name from the catalog")
    params: dict[str, Any] = Field(default_factory=dict, description="as in the catalog")
    as_of: str | None = Field(default=None, description="answer with what was known then")
