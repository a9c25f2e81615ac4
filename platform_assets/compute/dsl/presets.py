"""Queries to start from. All of them are ours."""

from platform_assets.compute.language import Example

PRESETS = (
    Example("value_quality", "低估值高质量", "市盈率不高、净资产收益率不低、负债可控",
        "pe_ttm between 0 and 20 and roe >= 15% and debt_ratio < 60% and not st order by roe desc"),
    Example("high_dividend", "高股息", "股息率不低于 4% 的大中盘",
        "dividend_yield >= 4% and total_market_cap >= 100亿 and not st order by dividend_yield desc"),
    Example("growth", "业绩成长", "营收与净利润同比都在增长",
        "revenue_yoy > 20% and profit_yoy > 20% and roe >= 8% and not st order by profit_yoy desc"),
    Example("oversold", "超跌仍在长均线上", "短期超卖而中期趋势未破",
        "rsi6 < 20 and price > ma60 and not st order by rsi6"),
    Example("bull_align", "多头排列放量", "均线多头排列，当日放量上涨",
        "ma_align = 1 and volume_ratio >= 1.5 and change_pct > 0 and not st order by volume_ratio desc"),
    Example("near_high", "逼近20日新高", "距 20 日最高价不到 2%，量比不低",
        "price > hhv(high, 20) * 0.98 and volume_ratio >= 1.5 order by volume_ratio desc"),
    Example("double_bottom", "双底突破", "当日突破双底颈线",
        "double_bottom = 100 and total_market_cap >= 50亿 order by amount desc"),
    Example("chip_low", "低位筹码集中", "获利盘少、筹码集中、老鸭头成形",
        "profit_ratio_pct < 10 and concentration_90_pct < 15 and duck_stage >= 2"),
    Example("main_inflow", "主力净流入", "主力净占比高且换手适中",
        "main_net_ratio >= 5% and turnover_pct between 3 and 15 and not st order by main_net_inflow desc"),
    Example("limit_gene", "涨停活跃", "20 日内多次涨停，5 日内未炸板",
        "limit_up_count_20d >= 2 and break_fail_days_5d = 0 and not st order by limit_up_count_20d desc"),
    Example("composite_top", "综合得分前50", "因子综合得分最高",
        "composite is not null and not st order by composite desc limit 50"),
    Example("low_volatility", "低波动优质", "稳定得分与质量得分都高",
        "stability >= 80 and quality >= 65 and not st order by stability desc"),
)  # fmt: skip
