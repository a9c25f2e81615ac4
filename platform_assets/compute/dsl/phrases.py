"""Set phrases of the rules that turn sentences into queries."""

from platform_assets.compute.dsl.technical_fields import DIRECTIONS

_DIF = "ema(close, 12) - ema(close, 26)"
_DEA = f"ema({_DIF}, 9)"
_MACD_UP = f"{_DIF} > {_DEA} and ref({_DIF}, 1) <= ref({_DEA}, 1)"
_MACD_DOWN = f"{_DIF} < {_DEA} and ref({_DIF}, 1) >= ref({_DEA}, 1)"
_MEANS_UP = "ma(close, 5) > ma(close, 20) and ref(ma(close, 5), 1) <= ref(ma(close, 20), 1)"
_MEANS_DOWN = "ma(close, 5) < ma(close, 20) and ref(ma(close, 5), 1) >= ref(ma(close, 20), 1)"

# All but MACD, 低估值, 小盘, 超跌, 放量, 多头排列 and 非ST are ours.
PHRASES = {
    "金叉": _MACD_UP,
    "macd金叉": _MACD_UP,
    "死叉": _MACD_DOWN,
    "macd死叉": _MACD_DOWN,
    "均线金叉": _MEANS_UP,
    "均线死叉": _MEANS_DOWN,
    "低估值": "pe_ttm between 0 and 20",
    "小盘": "float_market_cap < 50亿",
    "大盘股": "float_market_cap >= 500亿",
    "超跌": "rsi6 < 20",
    "超买": "rsi6 > 80",
    "放量": "volume_ratio >= 1.5",
    "缩量": "volume_ratio <= 0.8",
    "多头排列": "ma5 > ma10 and ma10 > ma20 and ma20 > ma60",
    "空头排列": "ma5 < ma10 and ma10 < ma20 and ma20 < ma60",
    "st": "st",
    "非st": "not st",
    "破净": "pb between 0 and 1",
    "高股息": "dividend_yield >= 4%",
    "次新": "listed_days < 365",
    "涨停": "limit_days_today >= 1",
    "连板": "limit_days_today >= 2",
    "20日新高": "price >= hhv(high, 20)",
    "60日新高": "price >= hhv(high, 60)",
    "科创板": "code like '688%'",
    "创业板": "code like '30%'",
    "北交所": "market = 'BJ'",
    "沪市": "market = 'SH'",
    "深市": "market = 'SZ'",
    **{one.label: one.example for one in DIRECTIONS},
}
FILLERS = frozenset(
    """
    且 并且 而且 同时 和 与 及 以及 还有 , ; ( ) . ! ? 的 股票 个股 股 公司 选出 找出 查找 筛选 搜索 选股
    、 请 帮我 给我 我要 我想要 我想 哪些 有哪些 按 按照 根据 行业 板块 形态 最近 近 今日 今天 当前 目前 列出
    所有 全部 满足 条件 要求 出现
    """.split()
)
"""Words that say nothing about which stocks are meant."""
JOINING = frozenset("且 并且 而且 同时 和 与 及 以及".split())
"""Those that join two conditions closer than `或` does."""
SEPARATING = frozenset(", ; . ! ? )".split())
"""Those behind which something new begins, of which all must hold too."""
