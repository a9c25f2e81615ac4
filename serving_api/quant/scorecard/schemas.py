"""Response models of the scorecards. Percentages; None when unknown."""

from typing import Any

from pydantic import BaseModel, Field

from serving_api.framework.history_reach import Reach
from serving_api.framework.row_models import columns_of


class PickGroup(BaseModel):
    key: str
    label: str


class PickSource(BaseModel):
    key: str
    label: str
    groups: list[PickGroup]
    first_date: str | None
    picks: int


class PickSources(BaseModel):
    items: list[PickSource]


class FillableStats(BaseModel):
    """Without picks whose purchase would have been at the limit-up price."""

    reviewed: int | None = Field(description="null when a scorecard of a date has no sums")
    win_rate_pct: float | None
    avg_profit_pct: float | None
    avg_excess_pct: float | None
    profit_loss_ratio: float | None


@columns_of("scorecard_daily", "source group_key picks avg_profit_pct profit_loss_ratio unfillable!")
class ScorecardRow(BaseModel):
    hold_days: int = Field(description="trade dates until a pick is judged: 5, of decision cards 10")
    reviewed: int = Field(description="settled picks, including those that never traded")
    win_rate_pct: float | None = Field(description="of the settled ones")
    avg_excess_pct: float | None = Field(description="against the CSI 300 over the same dates")
    fillable: FillableStats


class ScorecardOverview(Reach):
    items: list[ScorecardRow]
    hold_days: int = Field(description="of the requested source; 5 without one")
    as_of: str | None = Field(description="newest date of a pick")


@columns_of(
    "track_builtin",
    "trade_date code name industry score buy_date buy_price sell_date sell_price profit_pct excess_pct "
    "max_gain_pct max_drawdown_pct reason",
)
class PickRow(BaseModel):
    source: str
    group_key: str
    rank: int | None = Field(description="null for decision cards")
    price_at_pick: float | None = Field(description="CNY, unadjusted")
    status: str = Field(description="pending, partial or reviewed")
    unfillable: bool | None = Field(description="the purchase would have been at the limit-up price")


class PickPage(Reach):
    items: list[PickRow]
    total: int
    page: int
    pageSize: int


class PickBreakdownRow(BaseModel):
    key: str
    picks: int
    reviewed: int
    win_rate_pct: float | None
    avg_profit_pct: float | None
    avg_excess_pct: float | None


class PickBreakdown(Reach):
    by: str
    items: list[PickBreakdownRow]


class StockStats(BaseModel):
    picks: int
    reviewed: int = Field(description="settled picks, the basis of the figures")
    win_rate_pct: float | None
    avg_profit_pct: float | None


class StockPicks(Reach):
    code: str
    items: list[PickRow]
    stats: StockStats


class StrategyCard(BaseModel):
    key: str
    name: str
    desc: str
    board_size: int
    last_date: str | None
    picks: int = Field(description="of the last 90 trade dates, like the figures below")
    reviewed: int = Field(description="settled picks, the basis of the figures")
    win_rate_pct: float | None
    avg_profit_pct: float | None


class StrategyCards(Reach):
    items: list[StrategyCard]


class StrategyBoardRow(BaseModel):
    rank: int
    code: str
    name: str | None
    industry: str | None
    score: float | None
    price: float | None
    change_pct: float | None
    reason: str | None
    detail: dict[str, Any]


class StrategyBoard(Reach):
    key: str
    date: str | None
    items: list[StrategyBoardRow]
    total: int


@columns_of(
    "scorecard_daily",
    "picks reviewed win_rate_pct avg_profit_pct median_profit_pct avg_excess_pct profit_loss_ratio "
    "max_gain_pct max_loss_pct avg_hold_days unfillable!",
)
class FullStats(BaseModel):
    fillable: FillableStats


class ScoreCurvePoint(BaseModel):
    date: str
    avg_profit_pct: float
    cum_pct: float = Field(description="a fifth of the money in the picks of each date, compounded")
    index_cum_pct: float


class PickRecord(Reach):
    source: str
    group: str | None
    stats: FullStats
    curve: list[ScoreCurvePoint]
    months: list[PickBreakdownRow]


class StrategyPerformance(Reach):
    key: str
    stats: FullStats
    curve: list[ScoreCurvePoint]
    recent: list[PickRow]
