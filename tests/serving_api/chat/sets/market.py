"""Indices, industries, breadth, news and macro series of the market around the companies."""

from typing import Any

from tests.serving_api.chat.sets.companies import DAY, INDUSTRIES


def market() -> dict[str, list[dict[str, Any]]]:
    """Table -> rows."""
    return {
        "fusion_index_daily": [
            {
                "code": code,
                "date": DAY,
                "name": name,
                "scope": "cn",
                "close": close,
                "change_pct": pct,
                "open": round(close * 0.996, 2),
                "high": round(close * 1.004, 2),
                "low": round(close * 0.993, 2),
                "amount": amount,
            }
            for code, name, close, pct, amount in (
                ("sh000001", "上证指数", 3825.76, 0.83, 1.0127e12),
                ("sz399001", "深证成指", 12166.06, -0.26, 1.2973e12),
                ("sz399006", "创业板指", 2682.55, 1.52, 6.114e11),
            )
        ],
        "calc_market_phase": [
            {
                "trade_date": DAY,
                "phase": "rising",
                "phase_label": "升温",
                "score": 63.4,
                "up_count": 3214,
                "down_count": 1987,
                "flat_count": 152,
                "limit_up_count": 71,
                "limit_down_count": 6,
                "broken_count": 23,
                "max_limit_days": 5,
                "amount": 2.31e12,
                "sample_based": False,
                "seal_rate_pct": 75.53,
                "promotion_rate_pct": 31.25,
                "duration_days": 3,
            },
        ],
        "calc_industry_rank": [
            {
                "trade_date": DAY,
                "level": "sw_l1",
                "industry_code": sw,
                "industry_name": name,
                "rank_no": place,
                "change_pct": round(3.42 - 0.98 * place, 2),
                "main_net": 1.46e9 - 4.3e8 * place,
            }
            for place, (sw, name) in enumerate(
                (
                    INDUSTRIES[code]
                    for code in ("688981", "300750", "600276", "000333", "600036", "002024", "601088")
                ),
                1,
            )
        ],
        "raw_news_flash": [
            {
                "flash_id": "f1",
                "pub_time": f"{DAY} 14:02:00",
                "title": "央行开展1500亿元逆回购操作",
                "importance": 2,
            },
            {
                "flash_id": "f2",
                "pub_time": f"{DAY} 10:31:00",
                "title": "国家统计局：7月规模以上工业企业利润同比增长",
                "importance": 2,
            },
        ],
        "fusion_macro_indicator": [
            {
                "indicator": name,
                "period_date": period,
                "region": "cn",
                "category": "price",
                "name": title,
                "freq": "m",
                "value": value,
                "unit": unit,
                "publish_date": reported,
                "publish_estimated": False,
            }
            for name, title, unit, period, reported, value in (
                ("cn_cpi_yoy", "居民消费价格同比", "pct", "2026-07-31", "2026-08-09", 0.4),
                ("cn_ppi_yoy", "工业品出厂价格同比", "pct", "2026-07-31", "2026-08-09", -2.9),
                ("cn_pmi_mfg", "制造业采购经理指数", "index", "2026-07-31", "2026-07-31", 49.7),
                ("cn_pmi_nonmfg", "非制造业商务活动指数", "index", "2026-07-31", "2026-07-31", 50.3),
                ("cn_m2_yoy", "广义货币同比", "pct", "2026-07-31", "2026-08-13", 8.8),
                ("cn_rmb_loan", "新增人民币贷款", "yi", "2026-07-31", "2026-08-14", 7261.0),
                ("cn_lpr_1y", "一年期贷款市场报价利率", "pct", "2026-08-20", "2026-08-20", 3.0),
                ("cn_lpr_5y", "五年期贷款市场报价利率", "pct", "2026-08-20", "2026-08-20", 3.5),
                ("cn_bond_10y", "十年期国债收益率", "pct", "2026-08-21", "2026-08-21", 1.78),
            )
        ],
    }
