"""Sources of picks, and the names of their groups."""

from dataclasses import dataclass

from platform_assets.compute.backtests.strategies import STRATEGIES as CLASSICS
from platform_assets.compute.factors.presets import PRESETS
from platform_assets.datasets.market_phase import MarketPhase
from platform_assets.datasets.scorecard_daily import ScorecardDaily
from platform_assets.datasets.strategy_hit import StrategyHit
from resources.warehouse.stored import stored

BUILTIN, PRESET, DECISION, STRATEGY = "builtin", "preset", "decision", "strategy"


@dataclass(frozen=True)
class Strategy:
    """One of the built-in strategies."""

    key: str
    name: str
    desc: str


STRATEGIES: tuple[Strategy, ...] = (
    Strategy(
        "dragon", "龙头", "涨停池中的龙头：高度、封单、题材、资金、结构五维评分，不含 ST 与上市头五日的新股"
    ),
    Strategy("tactic", "战法", "趋势强度、量价健康、形态与信号的加权分，通过硬性门槛的股票"),
    Strategy("composite", "综合", "十一因子综合分，通过硬性门槛的股票"),
)
LABELS = {BUILTIN: "内置策略", PRESET: "因子预设", DECISION: "决策卡", STRATEGY: "经典策略"}
GROUP_LABELS: dict[str, dict[str, str]] = {
    STRATEGY: {key: one.name for key, one in CLASSICS.items()},
    BUILTIN: {one.key: one.name for one in STRATEGIES},
    PRESET: {preset.key: preset.label for preset in PRESETS},
}


@dataclass(frozen=True)
class Table:
    """The stored picks of a source, and the column of their group."""

    name: str
    group: str


TABLES = {BUILTIN: Table("track_builtin", "board_key"), PRESET: Table("track_preset", "preset_key")}
CARDS = stored("decision_card")
PHASES = stored("calc_market_phase", MarketPhase)
BARS = stored("fusion_kline_daily")
INDEX = stored("fusion_index_daily")
BY_DATE = stored("scorecard_daily", ScorecardDaily)
HITS = stored("calc_strategy_hit", StrategyHit)
"""Tables behind the answers, besides those of the picks."""
