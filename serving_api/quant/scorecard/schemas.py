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


@columns_of("scorecard_daily", "win_rate_pct avg_profit_pct avg_excess_pct profit_loss_ratio")
class FillableStats(BaseModel):
    """Without picks whose purchase would have been at the limit-up price."""

    reviewed: int | None = Field(description="null when a scorecard of a date has no sums")


@columns_of(
    "scorecard_daily",
    "source group_key picks avg_profit_pct profit_loss_ratio unfillable! win_rate_pct avg_excess_pct",
)
class ScorecardRow(BaseModel):
    hold_days: int = Field(description="trade dates until a pick is judged: 5, of decision cards 10")
    reviewed: int = Field(description="settled picks, including those that never traded")
    fillable: FillableStats


class ScorecardOverview(Reach):
    items: list[ScorecardRow]
    hold_days: int = Field(description="of the requested source; 5 without one")
    as_of: str | None = Field(description="newest date of a pick")


@columns_of(
    "track_builtin",
    "trade_date code name industry score buy_date buy_price sell_date sell_price profit_pct excess_pct "
    "max_gain_pct max_drawdown_pct reason price_at_pick status unfillable",
)
class PickRow(BaseModel):
    source: str
    group_key: str
    rank: int | None = Field(description="null for decision cards")


class PickPage(Reach):
    items: list[PickRow]
    total: int
    page: int
    pageSize: int


@columns_of("scorecard_daily", "picks reviewed win_rate_pct avg_profit_pct avg_excess_pct")
class PickBreakdownRow(BaseModel):
    key: str


class PickBreakdown(Reach):
    by: str
    items: list[PickBreakdownRow]


@columns_of("scorecard_daily", "picks reviewed win_rate_pct avg_profit_pct")
class StockStats(BaseModel):
    """The basis of the figures: settled picks."""


class StockPicks(Reach):
    code: str
    items: list[PickRow]
    stats: StockStats


@columns_of("scorecard_daily", "reviewed win_rate_pct avg_profit_pct")
class StrategyCard(BaseModel):
    key: str
    name: str
    desc: str
    board_size: int
    last_date: str | None
    picks: int = Field(description="of the last 90 trade dates, like the figures below")


class StrategyCards(Reach):
    items: list[StrategyCard]


@columns_of("track_builtin", "code name industry score reason")
class StrategyBoardRow(BaseModel):
    rank: int
    price: float | None
    change_pct: float | None
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
