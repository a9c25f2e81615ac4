"""Rules and limits of the five-dimension analysis. `spec` says what the specification fixes; all points,
words and borders are ours, with their reasons in docs/calculations/analysis.md."""

from collections.abc import Mapping

DIMENSIONS: Mapping[str, str] = {
    "national_will": "国家意志",
    "era_trend": "时代趋势",
    "industry_turning": "产业拐点",
    "competition": "竞争格局",
    "stage": "发展阶段",
}
"""Keys in their order (spec), and how users read them."""
LOWEST, HIGHEST = 0.0, 5.0
GATE_CAP = 4.4
"""Greatest total of a stock that a hard gate blocks (spec)."""
MOST_CONCLUSION = 2000
"""Characters (spec)."""
FEWEST_DIMENSIONS = 3
"""Dimensions that a total takes: below it the mean would speak of what is not known."""

BULLISH_FROM = 3.2
BEARISH_TO = 2.4
"""Totals from and up to which a decision has a direction. A mean of means keeps near the middle: on the
sample market about a tenth of the stocks lies beyond either border."""

Points = tuple[tuple[float, float], ...]
"""(value, score) in rising order of the value; straight lines between, flat beyond."""

POLICY_THEMES_POINTS: Points = ((0, 1.5), (1, 3.0), (3, 5.0))
STATE_OWNED, NOT_STATE_OWNED = 4.0, 2.5
MONEY_POINTS: Points = ((-2, 1.0), (0, 2.0), (5, 3.0), (12, 4.5))
"""M1, percent against the year before."""

REVENUE_GROWTH_POINTS: Points = ((-20, 0.0), (0, 2.0), (10, 3.0), (30, 4.5), (50, 5.0))
EXPECTED_GROWTH_POINTS: Points = ((-20, 0.5), (0, 2.0), (20, 4.0), (40, 5.0))
INDUSTRY_CHANGE_POINTS: Points = ((-15, 0.5), (0, 2.5), (15, 4.5))

QUADRANT_SCORES: Mapping[str, float] = {"improving": 4.5, "leading": 4.0, "weakening": 2.0, "lagging": 1.0}
QUADRANT_WORDS: Mapping[str, str] = {
    "improving": "改善", "leading": "领先", "weakening": "走弱", "lagging": "落后",
}  # fmt: skip
REVENUE_TURN_POINTS: Points = ((-20, 0.5), (0, 2.5), (20, 4.5))
PROFIT_TURN_POINTS: Points = ((-40, 0.5), (0, 2.5), (40, 4.5))
"""Percentage points against the report before."""
FORECAST_SCORES: Mapping[str, float] = {
    "扭亏": 4.5, "预增": 4.5, "略增": 3.5, "续盈": 3.0, "减亏": 2.5, "略减": 2.0, "预减": 1.0, "首亏": 0.5,
    "续亏": 0.5, "增亏": 0.3,
}  # fmt: skip

ROE_POINTS: Points = ((0, 0.5), (6, 2.0), (12, 3.5), (20, 5.0))
"""Percent a year."""
GROSS_MARGIN_POINTS: Points = ((10, 1.0), (20, 2.0), (40, 3.5), (60, 5.0))
NET_MARGIN_POINTS: Points = ((0, 0.5), (5, 2.0), (15, 4.0), (30, 5.0))
CASH_POINTS: Points = ((0, 0.5), (0.8, 2.5), (1.2, 4.5))
"""Operating cash flow / net profit."""
FACTOR_POINTS: Points = ((0, 0.5), (50, 2.5), (100, 4.5))
"""A factor score, 0..100."""

PERCENTILE_POINTS: Points = ((0, 4.5), (50, 2.5), (100, 0.5))
"""Percentile of PE or PB within five years, else three: low is cheap."""
RELATIVE_PE_POINTS: Points = ((0.5, 4.5), (1.0, 2.5), (2.0, 0.5))
"""PE over that of the industry."""
LOCKUP_POINTS: Points = ((1, 3.0), (10, 2.0), (30, 0.5))
"""Percent of all shares that become free within half a year."""

STATE_OWNERS = (
    "国资委",
    "国有资产",
    "国务院",
    "财政部",
    "财政厅",
    "财政局",
    "人民政府",
    "中央汇金",
    "教育部",
)
"""Words of a controller that is the state."""
POLICY_THEMES = (
    "国产", "信创", "自主可控", "半导体", "芯片", "集成电路", "光刻", "人工智能", "AI", "算力", "大模型",
    "数据要素", "数字经济", "机器人", "工业母机", "高端装备", "军工", "航天", "航空", "低空", "卫星", "北斗",
    "大飞机", "新能源", "储能", "光伏", "风电", "核电", "核聚变", "氢能", "固态电池", "锂电", "碳中和",
    "特高压", "智能电网", "虚拟电厂", "国企改革", "央企", "中字头", "一带一路", "专精特新", "新型工业化",
    "新质生产力", "粮食安全", "种业", "乡村振兴", "稀土", "创新药", "生物制造", "合成生物", "脑机", "量子",
    "6G", "海洋经济", "深海", "水利", "设备更新",
)  # fmt: skip
"""Words of concept boards for what the plans of the state name: self-reliance, energy, defence,
food, reform of its companies."""

MOST_LESSONS = 3
MOST_MISSES = 1
MISS_WEIGHT = 0.5
MOST_EXPERIENCE = 1200
CANDIDATES = 60
"""The experience block (spec): entries, examples of a miss, their weight, characters, cards that are read."""
SAME_CODE, SAME_INDUSTRY, ANY_OTHER = 3.0, 2.0, 1.0
FULL_MOVE_PCT = 20.0
"""A move from which on a lesson weighs no more."""
