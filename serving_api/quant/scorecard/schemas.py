"""Response models of the scorecards. Percentages; None when unknown."""

from typing import Any

from pydantic import BaseModel, Field

from platform_assets.datasets._picks import Pick
from platform_assets.datasets.scorecard_daily import ScorecardDaily
from serving_api.framework.history_reach import Reach
from serving_api.framework.openapi import IsoDate
from serving_api.framework.row_models import with_columns


class PickGroup(BaseModel):
    key: str
    label: str


class PickSource(BaseModel):
    key: str
    label: str
    groups: list[PickGroup]
    first_date: IsoDate | None
    picks: int


class PickSources(BaseModel):
    items: list[PickSource]


@with_columns(
    ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct, ScorecardDaily.avg_excess_pct,
    ScorecardDaily.profit_loss_ratio,
)  # fmt: skip
class FillableStats(BaseModel):
    """Without picks whose purchase would have been at the limit-up price."""

    reviewed: int | None = Field(description="null when a scorecard of a date has no sums")


@with_columns(
    ScorecardDaily.source, ScorecardDaily.group_key, ScorecardDaily.picks, ScorecardDaily.avg_profit_pct,
    ScorecardDaily.profit_loss_ratio, ScorecardDaily.unfillable.not_null(), ScorecardDaily.win_rate_pct,
    ScorecardDaily.avg_excess_pct,
)  # fmt: skip
class ScorecardRow(BaseModel):
    hold_days: int = Field(description="trade dates until a pick is judged: 5, of decision cards 10")
    reviewed: int = Field(description="settled picks, including those that never traded")
    fillable: FillableStats


class ScorecardOverview(Reach):
    items: list[ScorecardRow]
    hold_days: int = Field(description="of the requested source; 5 without one")
    as_of: str | None = Field(description="newest date of a pick")


@with_columns(
    Pick.trade_date, Pick.code, Pick.name, Pick.industry, Pick.score,
    Pick.buy_date, Pick.buy_price, Pick.sell_date, Pick.sell_price,
    Pick.profit_pct, Pick.excess_pct, Pick.max_gain_pct,
    Pick.max_drawdown_pct, Pick.reason, Pick.price_at_pick, Pick.status,
    Pick.unfillable,
)  # fmt: skip
class PickRow(BaseModel):
    source: str
    group_key: str
    rank: int | None = Field(description="null for decision cards")


class PickPage(Reach):
    items: list[PickRow]
    total: int
    page: int
    pageSize: int


@with_columns(
    ScorecardDaily.picks, ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct,
    ScorecardDaily.avg_excess_pct,
)  # fmt: skip
class PickBreakdownRow(BaseModel):
    key: str


class PickBreakdown(Reach):
    by: str
    items: list[PickBreakdownRow]


@with_columns(
    ScorecardDaily.picks, ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct
)
class StockStats(BaseModel):
    """The basis of the figures: settled picks."""


class StockPicks(Reach):
    code: str
    items: list[PickRow]
    stats: StockStats


@with_columns(ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct)
class StrategyCard(BaseModel):
    key: str
    name: str
    desc: str
    board_size: int
    last_date: IsoDate | None
    picks: int = Field(description="of the last 90 trade dates, like the figures below")


class StrategyCards(Reach):
    items: list[StrategyCard]


@with_columns(Pick.code, Pick.name, Pick.industry, Pick.score, Pick.reason)
class StrategyBoardRow(BaseModel):
    rank: int
    price: float | None
    change_pct: float | None
    detail: dict[str, Any]


class StrategyBoard(Reach):
    key: str
    date: IsoDate | None
    items: list[StrategyBoardRow]
    total: int


@with_columns(
    ScorecardDaily.picks, ScorecardDaily.reviewed, ScorecardDaily.win_rate_pct, ScorecardDaily.avg_profit_pct,
    ScorecardDaily.median_profit_pct, ScorecardDaily.avg_excess_pct, ScorecardDaily.profit_loss_ratio,
    ScorecardDaily.max_gain_pct, ScorecardDaily.max_loss_pct, ScorecardDaily.avg_hold_days,
    ScorecardDaily.unfillable.not_null(),
)  # fmt: skip
class FullStats(BaseModel):
    fillable: FillableStats


class ScoreCurvePoint(BaseModel):
    date: IsoDate
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
