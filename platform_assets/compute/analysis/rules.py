"""The rules of the five dimensions, in the order in which they are reported."""

from platform_assets.compute.analysis.found import (
    Found,
    Rule,
    cite,
    first_level,
    level,
    newest,
    on_line,
    printed,
    ratio,
    reported,
    turn,
    word,
)
from platform_assets.compute.evidence.facts import Pack
from platform_assets.compute.parameters import analysis as own

FINANCE, VALUATION, SCORES = "fusion_finance_indicator", "fusion_valuation", "calc_factor_score"
RANKS, INDUSTRY, PROFILE = "calc_industry_rank", "fusion_stock_industry", "fusion_stock_profile"
RATIOS = "raw_industry_valuation"
MACRO, LOCKUP, FORECAST = "fusion_macro_indicator", "raw_lockup", "raw_earnings_forecast"
THEMES = "政策主题概念数"
"""Label of the count that the reader of the pack adds."""
NAMES = "政策主题概念"
"""Label of the names behind that count."""
MONEY = "cn_m1_yoy"


def _themes(pack: Pack, name: str) -> Found | None:
    fact = next((one for one in pack.facts if one.label == THEMES and one.subject == name), None)
    if fact is None or fact.number is None:
        return None
    listed = next((one for one in pack.facts if one.label == NAMES and one.subject == name), None)
    score = on_line(own.POLICY_THEMES_POINTS, fact.number)
    if not fact.number:
        return Found(score, f"所属概念中没有政策主题{cite(fact)}", (fact,))
    named = "" if listed is None else f"，例如{listed.value}"
    facts = (fact,) if listed is None else (fact, listed)
    return Found(score, f"政策主题概念有{fact.number:.0f}个{named}{cite(*facts)}", facts)


def _owner(pack: Pack, name: str) -> Found | None:
    fact = newest(pack, PROFILE, "controller", name)
    if fact is None or not isinstance(fact.value, str):
        return None
    state = any(one in fact.value for one in own.STATE_OWNERS)
    score = own.STATE_OWNED if state else own.NOT_STATE_OWNED
    kind = "国有" if state else "非国有"
    return Found(score, f"实际控制人为{fact.value}，属{kind}{cite(fact)}", (fact,))


def _money(pack: Pack, name: str) -> Found | None:
    fact = next(
        (one for one in pack.facts if one.table == MACRO and one.column == "value"
         and MONEY in map(str, one.key.values())),
        None,
    )  # fmt: skip
    if fact is None or fact.number is None:
        return None
    return Found(on_line(own.MONEY_POINTS, fact.number), f"狭义货币同比{reported(fact)}{cite(fact)}", (fact,))


def _roe(pack: Pack, name: str) -> Found | None:
    """Scores the ROE; that of a report within the year is of its months and scored as twelve of them."""
    fact = newest(pack, FINANCE, "roe", name)
    if fact is None or fact.number is None or not fact.as_of[5:7].isdigit():
        return None
    months = int(fact.as_of[5:7])
    score = on_line(own.ROE_POINTS, fact.number * 12 / months)
    return Found(score, f"净资产收益率{reported(fact)}（截至{fact.as_of[:10]}）{cite(fact)}", (fact,))


def _pe_to_industry(pack: Pack, name: str) -> Found | None:
    """PE over that of the industry, where both are positive; they may be of neighbouring days."""
    own_pe = newest(pack, VALUATION, "pe_ttm", name)
    of_industry = newest(pack, RATIOS, "pe_weighted", name)
    if own_pe is None or of_industry is None or not own_pe.number or not of_industry.number:
        return None
    if own_pe.number <= 0 or of_industry.number <= 0:
        return None
    value = own_pe.number / of_industry.number
    text = f"市盈率为行业的{printed(value, '倍')}{cite(own_pe, of_industry)}"
    return Found(on_line(own.RELATIVE_PE_POINTS, value), text, (own_pe, of_industry))


def _lockup(pack: Pack, name: str) -> Found | None:
    facts = [
        one for one in pack.facts
        if one.table == LOCKUP and one.column == "ratio_total_pct" and one.subject == name and one.number
    ]  # fmt: skip
    if not facts:
        return None
    total = sum(one.number or 0.0 for one in facts)
    score = on_line(own.LOCKUP_POINTS, total)
    return Found(score, f"未来半年解禁合计占总股本比例{printed(total, '%')}{cite(*facts)}", tuple(facts))


RULES: tuple[Rule, ...] = (
    Rule("policy_themes", "national_will", "政策主题", _themes, "规划点名的方向有资金与订单"),
    Rule("controller", "national_will", "实际控制人", _owner, "国有资本的投向体现国家目标"),
    Rule("money", "national_will", "货币环境", _money, "狭义货币的方向反映政策松紧"),
    Rule("revenue_growth", "era_trend", "营业收入增速",
         level(FINANCE, "revenue_yoy", own.REVENUE_GROWTH_POINTS, "营业收入同比"), "需求是否在扩张"),
    Rule("expected_growth", "era_trend", "预期盈利增速",
         ratio(VALUATION, "eps_fy2", "eps_fy1", own.EXPECTED_GROWTH_POINTS, "次年预期每股收益较本年变化",
               change=True), "机构对未来一年的共识"),
    Rule("industry_change", "era_trend", "行业近月涨跌幅",
         level(RANKS, "chg_20d", own.INDUSTRY_CHANGE_POINTS, "所属行业近月涨跌幅"), "市场是否认可这个方向"),
    Rule("quadrant", "industry_turning", "行业轮动位置",
         word(RANKS, "quadrant", own.QUADRANT_SCORES, "行业轮动处于", own.QUADRANT_WORDS),
         "强度与动量的组合先于业绩"),
    Rule("revenue_turn", "industry_turning", "收入增速变化",
         turn(FINANCE, "revenue_yoy", own.REVENUE_TURN_POINTS, "营业收入增速"), "拐点是增速的变化"),
    Rule("profit_turn", "industry_turning", "利润增速变化",
         turn(FINANCE, "net_profit_yoy", own.PROFIT_TURN_POINTS, "归母净利润增速"), "利润的弹性大于收入"),
    Rule("forecast", "industry_turning", "业绩预告",
         word(FORECAST, "predict_type", own.FORECAST_SCORES, "最新业绩预告为"), "公司自己的判断"),
    Rule("roe", "competition", "净资产收益率", _roe, "竞争优势的最终结果"),
    Rule("gross_margin", "competition", "毛利率",
         level(FINANCE, "gross_margin", own.GROSS_MARGIN_POINTS, "毛利率"), "定价权"),
    Rule("net_margin", "competition", "净利率",
         level(FINANCE, "net_margin", own.NET_MARGIN_POINTS, "净利率"), "费用与效率"),
    Rule("cash", "competition", "利润含金量",
         ratio(FINANCE, "operating_cash_flow", "net_profit", own.CASH_POINTS,
               "经营现金流净额与归母净利润之比"), "利润能否收到现金"),
    Rule("quality", "competition", "质量因子",
         level(SCORES, "quality_score", own.FACTOR_POINTS, "全市场质量因子分"), "与全市场相比"),
    Rule("pe_percentile", "stage", "市盈率历史分位",
         first_level(VALUATION, ("pe_pct_5y", "pe_pct_3y"), own.PERCENTILE_POINTS, "市盈率历史分位"),
         "价格在自身历史中的位置"),
    Rule("pb_percentile", "stage", "市净率历史分位",
         first_level(VALUATION, ("pb_pct_5y", "pb_pct_3y"), own.PERCENTILE_POINTS, "市净率历史分位"),
         "盈利波动时比市盈率可靠"),
    Rule("pe_to_industry", "stage", "相对行业市盈率", _pe_to_industry, "同行给出的尺子"),
    Rule("trend", "stage", "趋势结构因子",
         level(SCORES, "trend", own.FACTOR_POINTS, "全市场趋势结构分"), "市场正在走的阶段"),
    Rule("lockup", "stage", "未来解禁", _lockup, "即将增加的供给"),
)  # fmt: skip
