"""The catalogue of the screener: every field that a condition may name, and where its value comes from.

A field whose table is not there, or holds nothing of the date, is NULL for every code.
"""

from dataclasses import dataclass
from functools import cache

from platform_assets.compute.dsl import technical_fields
from platform_assets.compute.dsl.field_words import GROUPS, Field, flag, number, text

WIDE = "fusion_stock_wide"
CHIP = "calc_chip_daily"
FACTOR = "calc_factor_score"
DRAGON = "calc_dragon_score"

_IDENTITY = (
    text("code", "代码", WIDE, "code in ('600519', '000858')", aliases="股票代码"),
    text("name", "名称", WIDE, "name like '银行'", aliases="股票名称 简称"),
    text("industry", "行业", WIDE, "industry in ('银行', '白酒')", aliases="所属行业",
        note="one name a stock, of the second level where it is known; its mark (白酒Ⅱ) does not count"),
    text("market", "市场", WIDE, "market = 'SH'", options=("SH", "SZ", "BJ")),
    flag("st", "ST", WIDE, "not st", column="is_st",
        note="on the date; where the history of names does not reach, by the name quoted"),
    number("listed_days", "上市天数", "days", WIDE, "listed_days >= 365", column="list_date",
        note="calendar days since the listing date"),
)  # fmt: skip
_QUOTE = (
    number("price", "最新价", "CNY", WIDE, "price > ma60", column="current_price", series="close",
        aliases="价格 股价 现价"),
    number("open", "开盘价", "CNY", WIDE, "open > last_close", series="open"),
    number("high", "最高价", "CNY", WIDE, "price > hhv(high, 20) * 0.98", series="high"),
    number("low", "最低价", "CNY", WIDE, "low <= llv(low, 20)", series="low"),
    number("close", "收盘价", "CNY", WIDE, "close > ref(close, 5)", column="current_price", series="close"),
    number("last_close", "昨收价", "CNY", WIDE, "open > last_close", aliases="昨收"),
    number("change_pct", "涨跌幅", "pct", WIDE, "change_pct >= 5%", aliases="涨幅 今日涨幅"),
    number("turnover_pct", "换手率", "pct", WIDE, "turnover_pct between 3 and 10", series="turnover",
        aliases="换手"),
    number("volume_ratio", "量比", "", WIDE, "volume_ratio >= 1.5"),
    number("volume", "成交量", "lot", WIDE, "volume > 2 * ma(volume, 5)", column="total_volume",
        series="volume"),
    number("amount", "成交额", "CNY", WIDE, "amount >= 3亿", series="amount", aliases="成交金额"),
    number("amplitude_pct", "振幅", "pct", WIDE, "amplitude_pct >= 8%"),
)  # fmt: skip


def _multiple(name: str, label: str, example: str, *, aliases: str = "") -> Field:
    """A price in terms of a figure: where the figure is a loss, there is none."""
    note = "a value of 0 or less is missing: there is no profit, or no equity, to pay for"
    return number(name, label, "", WIDE, example, aliases=aliases, note=note, positive=True)


_VALUATION = (
    _multiple("pe_ttm", "市盈率TTM", "pe_ttm < 20", aliases="市盈率 pe 滚动市盈率"),
    _multiple("pb", "市净率", "pb < 1"),
    _multiple("ps_ttm", "市销率TTM", "ps_ttm < 2", aliases="市销率 ps"),
    number("dividend_yield", "股息率", "pct", WIDE, "dividend_yield >= 4%"),
    number("total_market_cap", "总市值", "wan", WIDE, "total_market_cap >= 100亿", aliases="市值"),
    number("float_market_cap", "流通市值", "wan", WIDE, "float_market_cap < 50亿"),
)
_FINANCE = (
    number("roe", "净资产收益率", "pct", WIDE, "roe >= 15%"),
    number("gross_margin", "毛利率", "pct", WIDE, "gross_margin >= 40%"),
    number("net_margin", "净利率", "pct", WIDE, "net_margin >= 10%"),
    number("roa", "总资产收益率", "pct", WIDE, "roa >= 5%"),
    number("debt_ratio", "资产负债率", "pct", WIDE, "debt_ratio < 60%", aliases="负债率"),
    number("revenue_yoy", "营收同比", "pct", WIDE, "revenue_yoy > 20%", aliases="营收增长率 营收增速"),
    number("profit_yoy", "净利润同比", "pct", WIDE, "profit_yoy > 20%", column="net_profit_yoy",
        aliases="净利润增长率 净利润增速 利润增速"),
)  # fmt: skip
_CAPITAL = (
    number("main_net_inflow", "主力净流入", "CNY", WIDE, "main_net_inflow >= 5000万", column="main_net",
        aliases="主力资金"),
    number("main_net_ratio", "主力净占比", "pct", WIDE, "main_net_ratio >= 5%", column="main_net_pct"),
)  # fmt: skip
_GAINS = tuple(
    number(f"chg_{key}", label, "pct", WIDE, f"chg_{key} > 10%", aliases=aliases)
    for key, label, aliases in (
        ("3d", "3日涨幅", "三日涨幅"),
        ("5d", "5日涨幅", "五日涨幅"),
        ("10d", "10日涨幅", "十日涨幅"),
        ("20d", "20日涨幅", "二十日涨幅"),
        ("60d", "60日涨幅", "六十日涨幅"),
        ("ytd", "年初至今涨幅", "今年涨幅"),
        ("1y", "近一年涨幅", "一年涨幅"),
    )
)
_CHIP = (
    number("profit_ratio_pct", "获利比例", "pct", CHIP, "profit_ratio_pct < 10", aliases="获利盘"),
    number("avg_cost", "平均成本", "CNY", CHIP, "price > avg_cost"),
    number("concentration_90_pct", "90%筹码集中度", "pct", CHIP, "concentration_90_pct < 15",
        aliases="筹码集中度"),
    number("concentration_70_pct", "70%筹码集中度", "pct", CHIP, "concentration_70_pct < 10"),
)  # fmt: skip
_FACTOR = tuple(
    number(name, label, "", FACTOR, f"{name} >= 80", column=column, aliases=aliases)
    for name, label, column, aliases in (
        ("momentum", "动量得分", "momentum", "动量"),
        ("quality", "质量得分", "quality_score", "质量 quality_score"),
        ("value", "价值得分", "value", "价值"),
        ("growth", "成长得分", "growth", "成长"),
        ("trend", "趋势得分", "trend", "趋势"),
        ("capital", "资金得分", "capital", ""),
        ("stability", "稳定得分", "stability", "稳定"),
        ("shortTerm", "短线得分", "short_term", "short_term 短线"),
        ("liquidity", "流动性得分", "liquidity", "流动性"),
        ("limitGene", "涨停基因得分", "limit_gene", "limit_gene 涨停基因"),
        ("size", "规模得分", "size", "规模"),
        ("composite", "综合得分", "composite", "综合 综合评分 综合分"),
    )
)
_LIMIT = (
    number("limit_up_count_20d", "20日涨停次数", "", WIDE, "limit_up_count_20d >= 2", aliases="涨停次数"),
    number("limit_days_today", "连板数", "", WIDE, "limit_days_today >= 2", aliases="连板 连板天数"),
    number("break_fail_days_5d", "5日炸板天数", "", WIDE, "break_fail_days_5d = 0", aliases="炸板天数"),
)
_SCORE = (
    number("rtsi", "趋势强度RTSI", "", technical_fields.INDICATOR, "rtsi >= 55", aliases="趋势强度"),
    number("vpa_health", "量价健康度", "", "", "vpa_health >= 60", note="no table stores it"),
    number("dragon_score", "龙头得分", "", DRAGON, "dragon_score >= 70", column="total_score",
        aliases="龙头分"),
)  # fmt: skip

_BY_GROUP: dict[str, tuple[Field, ...]] = {
    "identity": _IDENTITY,
    "quote": _QUOTE,
    "valuation": _VALUATION,
    "finance": _FINANCE,
    "capital": _CAPITAL,
    "gains": _GAINS,
    "indicator": technical_fields.INDICATORS,
    "chip": _CHIP,
    "pattern": technical_fields.PATTERNS,
    "factor": _FACTOR,
    "limit": _LIMIT,
    "score": _SCORE,
}


@dataclass(frozen=True)
class Catalogue:
    """Fields by name (as shown), by any name in lower case, and the group of each."""

    fields: dict[str, Field]
    names: dict[str, Field]
    groups: dict[str, tuple[Field, ...]]

    def find(self, name: str) -> Field | None:
        return self.names.get(name.lower())

    def __getitem__(self, name: str) -> Field:
        return self.fields[name]


@cache
def catalogue() -> Catalogue:
    """All fields, in the order in which they are shown."""
    fields = {one.name: one for held in _BY_GROUP.values() for one in held}
    names: dict[str, Field] = {}
    for one in fields.values():
        for name in (one.name, *one.aliases):
            assert names.setdefault(name.lower(), one) is one, f"{name} names two fields"  # noqa: S101
        names.setdefault(one.label.lower(), one)
    assert set(_BY_GROUP) == set(GROUPS)  # noqa: S101
    return Catalogue(fields, names, _BY_GROUP)
