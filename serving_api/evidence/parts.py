"""The tables and columns that a pack of companies reads, how many rows, and the labels of the facts.

Units come from the declarations; `COUNT` is used where a declaration has none because the value is a
count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from platform_assets.compute.evidence.facts import COUNT
from resources.warehouse.stored import ANY, Order

Look = tuple[str, str] | tuple[str, str, str]
"""(column, label), or (column, label, unit)."""


@dataclass(frozen=True)
class Part:
    """One table. `rows`: how many of the newest rows of each company, within the last `days` calendar
    days. `ahead`: rows of this many coming days instead, the nearest first; with `around`
    beside the last ones. `known`: the column with
    the time at which a row became public. `named_by`: a key column whose value precedes each label.
    `set_only`: values of 0 are left out. `extra`: columns that are read but do not become facts."""

    key: str
    table: str
    looked_for: str
    columns: tuple[Look, ...]
    rows: int = 1
    days: int = 60
    ahead: int = 0
    around: bool = False
    known: str = ""
    named_by: str = ""
    set_only: bool = False
    order: tuple[Order, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one[0] for one in self.columns)


MASTER, INDUSTRY, QUOTE, BARS, WIDE, VALUATION = (
    "fusion_stock_master", "fusion_stock_industry", "fusion_quote_snapshot", "fusion_kline_daily",
    "fusion_stock_wide", "fusion_valuation",
)  # fmt: skip
FINANCE, FLOW, MARGIN, HOLDERS, SCORES, INDICATORS = (
    "fusion_finance_indicator", "fusion_fund_flow", "fusion_margin", "fusion_holder", "calc_factor_score",
    "calc_indicator_daily",
)  # fmt: skip
PLEDGE, GOODWILL, LOCKUP, CONSENSUS, ANNOUNCEMENTS, NEWS, REPORTS = (
    "raw_risk_pledge", "raw_risk_goodwill", "raw_lockup", "aux_worth", "fusion_announcement", "fusion_news",
    "raw_reports",
)  # fmt: skip
PATTERNS, DRAGON_TIGER = "calc_pattern_daily", "fusion_dragon_tiger"

BASE: tuple[Part, ...] = (
    Part("master", MASTER, "证券主数据", (
        ("name", "证券简称"), ("list_date", "上市日期"), ("is_st", "是否ST"), ("total_shares", "总股本"),
        ("float_shares", "流通股本"),
    )),
    Part("industry", INDUSTRY, "行业归属", (("industry", "所属行业"), ("sw_l1_name", "申万一级行业")),
         extra=("sw_l1",)),
    Part("quote", QUOTE, "行情快照", (
        ("price", "最新价"), ("change_pct", "涨跌幅"), ("open", "开盘价"), ("high", "最高价"),
        ("low", "最低价"),
        ("last_close", "昨收价"), ("volume", "成交量"), ("amount", "成交额"), ("turnover_pct", "换手率"),
        ("volume_ratio", "量比"), ("amplitude_pct", "振幅"),
    ), days=20),
    Part("wide", WIDE, "宽表指标", (
        ("chg_5d", "近5日涨跌幅"), ("chg_20d", "近20日涨跌幅"), ("chg_60d", "近60日涨跌幅"),
        ("chg_120d", "近120日涨跌幅"), ("chg_1y", "近一年涨跌幅"), ("chg_ytd", "年初至今涨跌幅"),
        ("high_52w", "52周最高价"), ("low_52w", "52周最低价"), ("volatility_20d", "20日波动率"),
        ("main_net_5d", "近5日主力净额"), ("limit_up_count_20d", "近20日涨停次数", COUNT),
        ("margin_change_5d", "融资余额5日变化"),
    ), days=20),
    Part("valuation", VALUATION, "估值", (
        ("pe_ttm", "市盈率TTM"), ("pe_static", "静态市盈率"), ("pe_forward", "预期市盈率"), ("pb", "市净率"),
        ("ps_ttm", "市销率TTM"), ("pcf_ttm", "市现率TTM"), ("peg", "PEG"), ("dividend_yield", "股息率"),
        ("total_market_cap", "总市值"), ("float_market_cap", "流通市值"), ("eps_ttm", "每股收益TTM"),
        ("bvps", "每股净资产"), ("eps_fy1", "本年预期每股收益"), ("eps_fy2", "次年预期每股收益"),
        ("forecast_orgs", "预测机构数", COUNT), ("pe_pct_3y", "市盈率3年分位"),
        ("pb_pct_3y", "市净率3年分位"),
        ("pe_pct_5y", "市盈率5年分位"), ("pb_pct_5y", "市净率5年分位"),
    ), days=20),
    Part("finance", FINANCE, "财务指标", (
        ("revenue", "营业收入"), ("revenue_yoy", "营业收入同比"), ("net_profit", "归母净利润"),
        ("net_profit_yoy", "归母净利润同比"), ("deducted_net_profit", "扣非净利润"),
        ("gross_margin", "毛利率"),
        ("net_margin", "净利率"), ("roe", "净资产收益率"), ("roa", "总资产收益率"),
        ("debt_ratio", "资产负债率"),
        ("current_ratio", "流动比率"), ("eps", "每股收益"), ("operating_cash_flow", "经营现金流净额"),
        ("free_cash_flow", "自由现金流"), ("total_assets", "总资产"), ("parent_equity", "归母净资产"),
    ), rows=5, days=900, known="ann_date"),
    Part("flow", FLOW, "资金流向", (
        ("main_net", "主力净额"), ("main_net_pct", "主力净占比"), ("super_net", "超大单净额"),
        ("large_net", "大单净额"),
    ), rows=5, days=30),
    Part("scores", SCORES, "因子评分", (
        ("composite", "综合因子分"), ("momentum", "动量分"), ("quality_score", "质量分"), ("value", "价值分"),
        ("growth", "成长分"), ("trend", "趋势结构分"), ("capital", "资金分"), ("stability", "稳健低波分"),
        ("gate_code", "风险门"),
    ), days=20),
    Part("pledge", PLEDGE, "股权质押", (("pledge_ratio", "质押比例"),), days=60),
    Part("goodwill", GOODWILL, "商誉", (
        ("goodwill", "商誉"), ("goodwill_equity_ratio_pct", "商誉占净资产比例"), ("impairment", "商誉减值"),
    ), days=500, known="ann_date"),
    Part("lockup", LOCKUP, "未来半年的解禁", (
        ("ratio_total_pct", "解禁占总股本比例"), ("market_value", "解禁市值"), ("able_shares", "可上市股数"),
        ("free_date", "解禁日期"),
    ), rows=3, ahead=183),
)  # fmt: skip
"""Also read for several companies side by side."""

FURTHER: tuple[Part, ...] = (
    Part("band", "calc_valuation_band", "估值区间", (
        ("pe_low", "市盈率区间下沿"), ("pe_high", "市盈率区间上沿"), ("pb_low", "市净率区间下沿"),
        ("pb_high", "市净率区间上沿"),
    ), days=30),
    Part("bars", BARS, "日线", (
        ("close", "收盘价"), ("change_pct", "涨跌幅"), ("amount", "成交额"),
    ), rows=5, days=30),
    Part("indicators", INDICATORS, "技术指标", (
        ("ma5", "MA5"), ("ma20", "MA20"), ("ma60", "MA60"), ("macd_dif", "MACD快线"),
        ("macd_dea", "MACD慢线"),
        ("kdj_k", "KDJ的K值"), ("kdj_d", "KDJ的D值"), ("rsi6", "RSI6"), ("rsi14", "RSI14"),
        ("boll_upper", "布林上轨"), ("boll_lower", "布林下轨"),
    ), days=20),
    Part("patterns", PATTERNS, "形态信号", (
        ("duck_buy", "老鸭头买点"), ("duck_sell", "老鸭头卖点"), ("arc_bottom", "圆弧底"),
        ("arc_top", "圆弧顶"),
        ("cup_handle", "杯柄"), ("double_top", "双顶"), ("double_bottom", "双底"), ("triple_top", "三重顶"),
        ("triple_bottom", "三重底"), ("head_shoulders_top", "头肩顶"), ("head_shoulders_bottom", "头肩底"),
        ("rectangle", "矩形"), ("triangle", "三角形"), ("wedge", "楔形"), ("flag", "旗形"),
        ("island", "岛形反转"),
    ), days=20, set_only=True),
    Part("chips", "calc_chip_daily", "筹码分布", (
        ("profit_ratio_pct", "获利比例"), ("avg_cost", "平均成本"), ("concentration_90_pct", "筹码集中度"),
        ("support_price", "支撑价"), ("resistance_price", "压力价"),
    ), days=20),
    Part("margin", MARGIN, "融资融券", (
        ("rzye", "融资余额"), ("rzjme", "融资净买入"), ("rqye", "融券余额"), ("rzrqye", "融资融券余额"),
    ), days=30),
    Part("holders", HOLDERS, "股东户数", (
        ("holder_num", "股东户数", COUNT), ("change_ratio", "股东户数变化"), ("avg_market_cap", "户均市值"),
    ), rows=2, days=500, known="ann_date"),
    Part("top_holders", "raw_top_holders", "十大股东", (
        ("holder_name", "股东名称"), ("ratio_pct", "持股比例"),
    ), rows=5, days=300, extra=("rank_no",),
        order=(ANY.report_period.desc(), ANY.holder_type.desc(), ANY.rank_no)),
    Part("dividends", "fusion_dividend", "分红", (
        ("plan_text", "分红方案"), ("dividend_yield", "方案股息率"), ("ex_date", "除权除息日"),
    ), rows=2, days=800),
    Part("consensus", CONSENSUS, "机构一致预期", (
        ("eps_mean", "年预期每股收益"), ("net_profit_mean", "年预期净利润"),
        ("org_count", "年预测机构数", COUNT),
    ), rows=3, days=400, named_by="forecast_year", order=(ANY.forecast_year,)),
    Part("forecast", "raw_earnings_forecast", "业绩预告", (
        ("predict_type", "预告类型"), ("change_lower_pct", "预告增幅下限"),
        ("change_upper_pct", "预告增幅上限"),
    ), rows=2, days=200, known="ann_date"),
    Part("dragon_tiger", DRAGON_TIGER, "龙虎榜", (
        ("reason", "上榜原因"), ("net_buy", "龙虎榜净买入"), ("change_pct", "涨跌幅"),
    ), rows=2, days=60),
    Part("block_trade", "fusion_block_trade", "大宗交易", (
        ("price", "大宗成交价"), ("premium_pct", "大宗溢价率"), ("amount", "大宗成交额"),
    ), rows=2, days=60),
    Part("schedule", "cninfo_periodic_report", "财报预约披露日", (
        ("first_date", "首次预约披露日"), ("change1_date", "变更后预约披露日"), ("actual_date", "实际披露日"),
    ), days=200, ahead=100, around=True, named_by="report_period", order=(ANY.report_period.desc(),)),
    Part("profile", "fusion_stock_profile", "公司概况", (
        ("main_business", "主营业务"), ("controller", "实际控制人"),
    )),
    Part("reports", REPORTS, "研究报告", (("title", "研报标题"), ("rating", "研报评级")), rows=3, days=180),
    Part("announcements", ANNOUNCEMENTS, "公告", (("title", "公告标题"),), rows=5, days=90),
    Part("news", NEWS, "新闻", (("title", "新闻标题"),), rows=5, days=60),
)  # fmt: skip

OF_ONE: Sequence[Part] = (*BASE, *FURTHER)
