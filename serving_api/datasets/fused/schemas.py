"""Response models of the fused layer, for the document. Rows hold the named fields first, then every other
column of the fused row."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from serving_api.admin.records import SyncLog
from serving_api.admin.schedule.schemas import LockItem
from serving_api.datasets.fused import queries
from serving_api.framework.openapi import example
from serving_api.framework.parameters import Code
from serving_api.framework.row_models import columns_of


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


@columns_of(queries.MASTER, "code name? total_shares float_shares")
class Master(Row):
    """Shares; then the other columns of fusion_stock_master."""

    quality: str | None


class Profile(Row):
    code: str


@columns_of(queries.FINANCE, "report_period revenue net_profit eps bvps")
class Finance(Row):
    """CNY; per share CNY."""


class StockRecord(BaseModel):
    code: str
    master: Master | None
    profile: Profile | None
    finance: list[Finance] = Field(description="newest first, at most 8")
    latest_finance: Finance | None
    quality: dict[str, str | None]


@columns_of(queries.VALUATION, "code pe_ttm pb total_market_cap price? as_of_date=date")
class ValuationRow(Row):
    """Caps in 10k CNY."""

    quality: str | None


@columns_of(queries.VALUATION, "date price? pe_ttm pb total_market_cap")
class Snapshot(BaseModel):
    """Price in CNY, cap in 10k CNY."""


class Valuation(BaseModel):
    code: str
    valuation: ValuationRow
    snapshots: list[Snapshot] = Field(description="the newest, oldest first")
    total_snapshots: int


@columns_of(queries.INDUSTRY, "code name industry em_industry tdx_industry sw_l1 sw_l2")
class IndustryRow(Row):
    quality: str | None


@columns_of(queries.MARGIN, "date rzye? rzmre rqye rzrqye fin_ratio_pct loan_volume")
class MarginRow(Row):
    """CNY; `fin_ratio_pct` percent of the float market cap, `loan_volume` shares."""


@columns_of(queries.HOLDER, "date holder_num? change_num change_ratio avg_shares")
class HolderRow(Row):
    """`change_ratio` percent since the count before, `avg_shares` A shares per holder; then `ann_date` of the
    notice, `avg_market_cap` CNY per holder, `total_shares` A shares, `interval_change_pct` percent."""


@columns_of(queries.DIVIDEND, "ex_date bonus_rmb transfer_ratio bonus_ratio progress")
class DividendRow(Row):
    """Before tax, per 10 shares: `bonus_rmb` CNY, `transfer_ratio` shares from reserves, `bonus_ratio` shares
    from profit. `dividend_yield` and `payout_ratio` percent, `total_cash` CNY. No `ex_date` before the notice
    of the implementation."""


@columns_of(queries.ANNOUNCEMENT, "pub_date title! ann_type url")
class AnnouncementRow(Row):
    """`category`, `importance` 1..3 and the other columns of fusion_announcement follow."""

    quality: str | None


@columns_of(queries.NEWS, "pub_time! title! content source url news_type rating researcher")
class NewsRow(Row):
    """`source` is the medium; `target_price` and EPS forecasts (CNY) and `sentiment` -1, 0, 1 follow."""

    news_type: Literal["news", "research"]
    quality: str | None


@columns_of(queries.DRAGON_TIGER, "date reason! net_buy turnover close next_change_pct buy_amt sell_amt")
class DragonTigerRow(Row):
    """`net_buy`, `buy_amt`, `sell_amt` and the other sums of seats in 10k CNY, `amount` and `close` in CNY,
    `turnover` and changes in percent; `next_change_pct` is null until the next session has closed. The sums
    of several reasons of one date overlap."""

    quality: str | None


@columns_of(queries.BLOCK_TRADE, "date buyer seller price? volume? close premium_pct amount")
class BlockTradeRow(Row):
    """CNY; volume in shares, `premium_pct` percent of the close."""

    quality: str | None


RELEASE = (
    "date=free_date type=share_type shares=free_shares able_shares ratio_pct=ratio_total_pct market_value"
)


@columns_of(queries.LOCKUP, RELEASE)
class Release(BaseModel):
    """Shares; `ratio_pct` percent of all shares, `market_value` CNY at the newest close."""


@columns_of(
    queries.KLINE_BAR, "period date last_date is_closed! open? close? high? low? volume amount bar_count?"
)
class PeriodBar(BaseModel):
    """CNY; volume in shares; `bar_count` trade dates inside. `date` is the last trade date of the period,
    also of an unfinished one; `last_date` the newest trade date in the bar, null for bars stored before
    this column existed."""

    model_config = example(
        period="week", date="2026-08-21", last_date="2026-08-21", is_closed=True, open=14.42, close=15.04,
        high=15.09, low=13.81, volume=13083800, amount=188749972.0, bar_count=5, quality="ok",
    )  # fmt: skip
    quality: str | None


@columns_of(queries.INDEX_DAILY, "code date name open close? high low volume amount")
class IndexBar(BaseModel):
    """Points; volume in shares, amount in CNY."""

    model_config = example(
        code="sh000001", date="2026-08-21", name="上证指数", open=2977.21, close=3075.01, high=3093.26,
        low=2976.07, volume=509325900, amount=2845178100.0, quality="ok",
    )  # fmt: skip
    quality: str | None


@columns_of(queries.MASTER, "code name? market? total_shares float_shares")
@columns_of("fusion_stock_wide", "industry report_period revenue net_profit eps bvps roe")
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
