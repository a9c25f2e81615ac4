"""The eleven factors: inputs with their directions, weights, marks. Scores run from 0 to 100."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from platform_assets.compute.parameters.factors import WEIGHTS

Direction = Literal["high", "low"]
Mark = Literal["real", "proxy", "partial"]


@dataclass(frozen=True)
class Input:
    """One figure of a factor. `field` is a column of `fusion_stock_wide`, in its unit. `positive`: a value of
    zero or less is missing (a ratio of a loss says nothing)."""

    field: str
    label: str
    direction: Direction = "high"
    positive: bool = False


@dataclass(frozen=True)
class Factor:
    """A factor. `column` is its column of `calc_factor_score`. `mark` is shown to users as it is: `real`,
    `proxy` (measured by something near it) or `partial` (some of its inputs are not there)."""

    key: str
    label: str
    mark: Mark
    column: str
    inputs: tuple[Input, ...]
    note: str = ""

    @property
    def weight(self) -> float:
        """Share of the composite while every factor is there."""
        return WEIGHTS[self.key]

    @property
    def direction(self) -> str:
        """high, low, or mixed: which end of its inputs scores high."""
        kinds = {one.direction for one in self.inputs}
        return kinds.pop() if len(kinds) == 1 else "mixed"


FACTORS: tuple[Factor, ...] = (
    Factor("momentum", "动量", "real", "momentum",
        (Input("chg_20d", "20日涨幅"), Input("chg_60d", "60日涨幅"), Input("chg_1y", "一年涨幅")),
        "one year is 250 sessions, as in the wide table"),
    Factor("quality", "质量", "real", "quality_score", (Input("roe", "ROE"), Input("gross_margin", "毛利率"),
        Input("net_margin", "净利率"), Input("roa", "ROA")), "newest report that was published on the date"),
    Factor("value", "价值", "partial", "value", (Input("pe_ttm", "市盈率TTM", "low", positive=True),
        Input("pb", "市净率", "low", positive=True), Input("ps_ttm", "市销率TTM", "low", positive=True)),
        "a ratio of zero or less is missing; price / sales is not brought by every source"),
    Factor("growth", "成长", "real", "growth",
        (Input("revenue_yoy", "营收同比"), Input("net_profit_yoy", "净利润同比")),
        "newest report that was published on the date"),
    Factor("trend", "趋势结构", "proxy", "trend",
        (Input("ma5_dev_pct", "MA5偏离"), Input("chg_ytd", "年初至今涨幅"), Input("chg_10d", "10日涨幅")),
        "gains are used in place of the structure of a trend"),
    Factor("capital", "资金", "real", "capital",
        (Input("main_net_pct", "主力净流入占比"), Input("main_net", "主力净流入额")),
        "main flows are estimates of the upstream from the size of orders"),
    Factor("stability", "稳健低波", "proxy", "stability", (Input("amplitude_pct", "日内振幅", "low"),),
        "the range of one day is used in place of volatility"),
    Factor("shortTerm", "短期异动", "real", "short_term", (Input("chg_3d", "3日涨幅"),
        Input("chg_5d", "5日涨幅"), Input("speed_pct", "涨速"), Input("vol_accel_5_5", "量能加速5/5")),
        "speed is the change over 5 minutes in the closing quote"),
    Factor("liquidity", "流动性", "real", "liquidity", (Input("amount", "成交额"),
        Input("float_market_cap", "流通市值"), Input("turnover_pct", "换手率"))),
    Factor("limitGene", "涨停基因", "real", "limit_gene", (Input("limit_up_count_20d", "20日涨停次数"),
        Input("limit_days_today", "当日连板数"), Input("break_fail_days_5d", "5日炸板未封次数", "low")),
        "most stocks tie at zero, so that the highest score lies near 84"),
    Factor("size", "规模", "real", "size", (Input("total_market_cap", "总市值", "low", positive=True),),
        "high for small companies"),
)  # fmt: skip
BY_KEY: Mapping[str, Factor] = {factor.key: factor for factor in FACTORS}
KEYS: tuple[str, ...] = tuple(BY_KEY)
COLUMNS: tuple[str, ...] = tuple(factor.column for factor in FACTORS)
"""Columns of `calc_factor_score`, in the order of `FACTORS`."""
INPUTS: tuple[Input, ...] = tuple(one for factor in FACTORS for one in factor.inputs)
INPUT_COLUMNS: tuple[str, ...] = tuple(one.field for one in INPUTS)
"""Columns of `fusion_stock_wide` that scores are made of; each belongs to one factor."""
