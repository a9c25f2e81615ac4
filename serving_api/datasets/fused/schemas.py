"""Response models of the fused layer, for the document. Rows hold the named fields first, then every other
column of the fused row."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from platform_assets.datasets.announcement import Announcement
from platform_assets.datasets.block_trade import BlockTrade
from platform_assets.datasets.dividend import Dividend
from platform_assets.datasets.dragon_tiger import DragonTiger
from platform_assets.datasets.finance_indicator import FinanceIndicator
from platform_assets.datasets.holder import Holder
from platform_assets.datasets.index_daily import IndexDaily
from platform_assets.datasets.kline_bar import KlineBar
from platform_assets.datasets.lockup import RawLockup
from platform_assets.datasets.margin import Margin
from platform_assets.datasets.news import News
from platform_assets.datasets.stock_industry import StockIndustry
from platform_assets.datasets.stock_master import StockMaster
from platform_assets.datasets.stock_wide import StockWide
from platform_assets.datasets.valuation import Valuation as StoredValuation
from serving_api.admin.records import SyncLog
from serving_api.admin.schedule.schemas import LockItem
from serving_api.framework.openapi import example
from serving_api.framework.parameters import Code
from serving_api.framework.row_models import with_columns


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


class Row(BaseModel):
    """The columns that the document names; then the others of the table."""

    model_config = ConfigDict(extra="allow")


@with_columns(
    StockMaster.code, StockMaster.name.or_null(), StockMaster.total_shares, StockMaster.float_shares
)
class Master(Row):
    """Shares; then the other columns of fusion_stock_master."""

    quality: str | None


class Profile(Row):
    code: str


@with_columns(
    FinanceIndicator.report_period, FinanceIndicator.revenue, FinanceIndicator.net_profit,
    FinanceIndicator.eps, FinanceIndicator.bvps,
)  # fmt: skip
class Finance(Row):
    """CNY; per share CNY."""


class StockRecord(BaseModel):
    code: str
    master: Master | None
    profile: Profile | None
    finance: list[Finance] = Field(description="newest first, at most 8")
    latest_finance: Finance | None
    quality: dict[str, str | None]


@with_columns(
    StoredValuation.code, StoredValuation.pe_ttm, StoredValuation.pb, StoredValuation.total_market_cap,
    StoredValuation.price.or_null(), StoredValuation.date.label("as_of_date"),
)  # fmt: skip
class ValuationRow(Row):
    """Caps in 10k CNY."""

    quality: str | None


@with_columns(
    StoredValuation.date, StoredValuation.price.or_null(), StoredValuation.pe_ttm, StoredValuation.pb,
    StoredValuation.total_market_cap,
)  # fmt: skip
class Snapshot(BaseModel):
    """Price in CNY, cap in 10k CNY."""


class Valuation(BaseModel):
    code: str
    valuation: ValuationRow
    snapshots: list[Snapshot] = Field(description="the newest, oldest first")
    total_snapshots: int


@with_columns(
    StockIndustry.code, StockIndustry.name, StockIndustry.industry, StockIndustry.em_industry,
    StockIndustry.tdx_industry, StockIndustry.sw_l1, StockIndustry.sw_l2,
)  # fmt: skip
class IndustryRow(Row):
    quality: str | None


@with_columns(
    Margin.date, Margin.rzye.or_null(), Margin.rzmre, Margin.rqye, Margin.rzrqye, Margin.fin_ratio_pct,
    Margin.loan_volume,
)  # fmt: skip
class MarginRow(Row):
    """CNY; `fin_ratio_pct` percent of the float market cap, `loan_volume` shares."""


@with_columns(
    Holder.date, Holder.holder_num.or_null(), Holder.change_num, Holder.change_ratio, Holder.avg_shares
)
class HolderRow(Row):
    """`change_ratio` percent since the count before, `avg_shares` A shares per holder; then `ann_date` of the
    notice, `avg_market_cap` CNY per holder, `total_shares` A shares, `interval_change_pct` percent."""


@with_columns(
    Dividend.ex_date, Dividend.bonus_rmb, Dividend.transfer_ratio, Dividend.bonus_ratio, Dividend.progress
)
class DividendRow(Row):
    """Before tax, per 10 shares: `bonus_rmb` CNY, `transfer_ratio` shares from reserves, `bonus_ratio` shares
    from profit. `dividend_yield` and `payout_ratio` percent, `total_cash` CNY. No `ex_date` before the notice
    of the implementation."""


@with_columns(Announcement.pub_date, Announcement.title.not_null(), Announcement.ann_type, Announcement.url)
class AnnouncementRow(Row):
    """`category`, `importance` 1..3 and the other columns of fusion_announcement follow."""

    quality: str | None


@with_columns(
    News.pub_time.not_null(), News.title.not_null(), News.content, News.source, News.url, News.news_type,
    News.rating, News.researcher,
)  # fmt: skip
class NewsRow(Row):
    """`source` is the medium; `target_price` and EPS forecasts (CNY) and `sentiment` -1, 0, 1 follow."""

    news_type: Literal["news", "research"]
    quality: str | None


@with_columns(
    DragonTiger.date, DragonTiger.reason.not_null(), DragonTiger.net_buy, DragonTiger.turnover,
    DragonTiger.close, DragonTiger.next_change_pct, DragonTiger.buy_amt, DragonTiger.sell_amt,
)  # fmt: skip
class DragonTigerRow(Row):
    """`net_buy`, `buy_amt`, `sell_amt` and the other sums of seats in 10k CNY, `amount` and `close` in CNY,
    `turnover` and changes in percent; `next_change_pct` is null until the next session has closed. The sums
    of several reasons of one date overlap."""

    quality: str | None


@with_columns(
    BlockTrade.date, BlockTrade.buyer, BlockTrade.seller, BlockTrade.price.or_null(),
    BlockTrade.volume.or_null(), BlockTrade.close, BlockTrade.premium_pct, BlockTrade.amount,
)  # fmt: skip
class BlockTradeRow(Row):
    """CNY; volume in shares, `premium_pct` percent of the close."""

    quality: str | None


@with_columns(RawLockup.free_date.label("date"), RawLockup.share_type.label("type"),
    RawLockup.free_shares.label("shares"), RawLockup.able_shares,
    RawLockup.ratio_total_pct.label("ratio_pct"), RawLockup.market_value,
)  # fmt: skip
class Release(BaseModel):
    """Shares; `ratio_pct` percent of all shares, `market_value` CNY at the newest close."""


@with_columns(
    KlineBar.period, KlineBar.date, KlineBar.last_date, KlineBar.is_closed.not_null(),
    KlineBar.open.or_null(), KlineBar.close.or_null(), KlineBar.high.or_null(), KlineBar.low.or_null(),
    KlineBar.volume, KlineBar.amount, KlineBar.bar_count.or_null(),
)  # fmt: skip
class PeriodBar(BaseModel):
    """CNY; volume in shares; `bar_count` trade dates inside. `date` is the last trade date of the period,
    also of an unfinished one; `last_date` the newest trade date in the bar, null for bars stored before
    this column existed."""

    model_config = example(
        period="week", date="2026-08-21", last_date="2026-08-21", is_closed=True, open=14.42, close=15.04,
        high=15.09, low=13.81, volume=13083800, amount=188749972.0, bar_count=5, quality="ok",
    )  # fmt: skip
    quality: str | None


@with_columns(
    IndexDaily.code, IndexDaily.date, IndexDaily.name, IndexDaily.open, IndexDaily.close.or_null(),
    IndexDaily.high, IndexDaily.low, IndexDaily.volume, IndexDaily.amount,
)  # fmt: skip
class IndexBar(BaseModel):
    """Points; volume in shares, amount in CNY."""

    model_config = example(
        code="sh000001", date="2026-08-21", name="上证指数", open=2977.21, close=3075.01, high=3093.26,
        low=2976.07, volume=509325900, amount=2845178100.0, quality="ok",
    )  # fmt: skip
    quality: str | None


@with_columns(
    StockMaster.code, StockMaster.name.or_null(), StockMaster.market.or_null(), StockMaster.total_shares,
    StockMaster.float_shares, StockWide.industry, StockWide.report_period, StockWide.revenue,
    StockWide.net_profit, StockWide.eps, StockWide.bvps, StockWide.roe,
)  # fmt: skip
class Core(BaseModel):
    """Shares; report figures in CNY, `eps` and `bvps` CNY per share, `roe` in percent."""

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


class Status(BaseModel):
    tables: dict[str, TableState]
    quality: Quality
    locks: dict[str, LockItem]
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
