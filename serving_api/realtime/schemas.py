"""Response models of the realtime reads, for the document. Changes in percent, money in CNY."""

from pydantic import BaseModel, Field

from platform_assets.datasets.fund_flow import FundFlow
from platform_assets.datasets.quote_snapshot import QuoteSnapshot
from platform_assets.datasets.stock_wide import StockWide
from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import IsoDate
from serving_api.framework.row_models import Rows, with_columns
from serving_api.market.schemas import SOURCE, Sourced
from serving_api.realtime.abnormal_moves import LISTED


class TradingTime(BaseModel):
    """Whether trading takes place now."""

    is_trading: bool | None = Field(
        description="continuous trading or the closing auction; null beyond the calendar"
    )
    state: str | None = Field(description="pre_open, auction, trading, noon_break, closed, holiday")
    now: str
    next_open: str | None
    next_close: str | None
    is_trade_day: bool | None


@with_columns(
    FundFlow.date, FundFlow.main_net.or_null(), FundFlow.super_net, FundFlow.large_net, FundFlow.medium_net,
    FundFlow.small_net, FundFlow.main_net_pct, FundFlow.close, FundFlow.change_pct.label("change_percent"),
)  # fmt: skip
class StockFlowDay(BaseModel):
    """Nets of one date; the main net is that of super-large and large orders."""


class MoneyFlow(Reach):
    """Oldest first."""

    code: str
    items: list[StockFlowDay]
    trade_date: IsoDate | None = Field(description="that of the newest item")
    source: str | None = SOURCE


class StockChange(BaseModel):
    """One intraday anomaly."""

    time: str
    code: str
    name: str | None
    type: str = Field(description="kind of the event, such as large_buy")
    type_label: str
    price: float | None
    change_percent: float | None
    info: str | None


class FeedBreaker(BaseModel):
    state: str


class StockChanges(Rows[StockChange]):
    """Newest first."""

    stale: bool = Field(description="the portal did not answer: these are its last good events of today")
    breaker: FeedBreaker
    timestamp: str
    trade_date: IsoDate | None = Field(description="trade date of the events; null without any")
    source: str | None = SOURCE


@with_columns(
    StockWide.code, StockWide.name, StockWide.current_price.label("price"),
    StockWide.change_pct.label("change_percent"), StockWide.amount, StockWide.turnover_pct.label("turnover"),
)  # fmt: skip
class MostTraded(BaseModel):
    rank: int
    heat: float | None = Field(description="rank in the portal's list of popularity, if it was requested")
    reason: str | None


class HotStocks(Sourced, Rows[MostTraded]):
    """The most traded first."""


class TreeStock(BaseModel):
    code: str
    name: str | None
    value: float | None = Field(description="market cap, 100 million CNY")
    change_percent: float | None


class TreeSector(TreeStock):
    """An industry with its largest stocks."""

    amount: float | None = Field(description="CNY")
    main_net: float | None = Field(description="main net inflow, CNY")
    children: list[TreeStock]


class TreeMap(Sourced):
    """The largest industry first."""

    items: list[TreeSector]


class AuctionMove(BaseModel):
    """One of yesterday's limit-ups in today's opening auction."""

    code: str
    name: str | None
    auction_price: float = Field(description="CNY; virtual until 09:25, then the opening price")
    prev_close: float
    change_pct: float
    matched_vol: int | None = Field(description="shares; null when the source only has the price")
    unmatched_vol: int | None = Field(description="shares; positive: unmatched buy orders")
    direction: str = Field(description="抢筹, 抛压 or 均衡")
    limit_days: int | None = Field(description="limit-ups in a row up to yesterday")


@with_columns(QuoteSnapshot.code, QuoteSnapshot.name, QuoteSnapshot.price.or_null(), QuoteSnapshot.change_pct)
class IntradayMove(BaseModel):
    time: str
    type: str
    info: str | None


@with_columns(*LISTED)
class DeviationMove(BaseModel):
    """A listing on the billboard whose reason is a deviation of the price."""


class MoveCounts(BaseModel):
    auction: int
    intraday: int
    deviation: int


class AbnormalMoves(BaseModel):
    """Three kinds of moves; a kind without an answer is empty."""

    generated_at: str
    elapsed_s: float
    trade_date: IsoDate = Field(description="session of the auction and of the intraday moves")
    failed: list[str] = Field(description="kinds that no source answered; their items are older, or none")
    cached: bool = Field(description="no source was asked for this answer")
    auction_date: str | None = Field(description="YYYYMMDD of the pool: the trade date before")
    auction_status: str = Field(description="ready, pre_auction or non_trading_day")
    auction: list[AuctionMove]
    intraday: list[IntradayMove]
    deviation: list[DeviationMove]
    counts: MoveCounts
