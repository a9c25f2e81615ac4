"""Rows of a market that a test knows by heart: three companies, indices, industries, a few macro series."""

from typing import Any

DAY, BEFORE = "2026-08-21", "2026-08-20"
NAMES = {"600519": "贵州茅台", "601398": "工商银行", "000858": "五粮液股"}
FIGURES: dict[str, dict[str, float]] = {
    "600519": {"price": 1432.5, "pct": 1.27, "pe": 21.53, "pb": 7.25, "cap": 179_950_000.0, "roe": 17.91,
               "revenue": 91_094_000_000.0, "yoy": 9.16, "profit": 45_403_000_000.0, "debt": 14.2,
               "net": 312_500_000.0, "score": 71.4, "eps": 66.53, "bvps": 197.6},
    "601398": {"price": 7.31, "pct": -0.54, "pe": 7.12, "pb": 0.71, "cap": 260_500_000.0, "roe": 9.64,
               "revenue": 427_092_000_000.0, "yoy": 1.57, "profit": 168_103_000_000.0, "debt": 91.9,
               "net": -120_600_000.0, "score": 48.2, "eps": 1.03, "bvps": 10.3},
    "000858": {"price": 118.4, "pct": 0.35, "pe": 14.85, "pb": 3.12, "cap": 45_960_000.0, "roe": 13.37,
               "revenue": 52_771_000_000.0, "yoy": -4.22, "profit": 19_492_000_000.0, "debt": 23.6,
               "net": 45_300_000.0, "score": 55.9, "eps": 7.97, "bvps": 37.9},
}  # fmt: skip
INDUSTRY = {"600519": ("801120", "食品饮料"), "601398": ("801780", "银行"), "000858": ("801120", "食品饮料")}


def companies() -> dict[str, list[dict[str, Any]]]:
    """Table -> rows."""
    return {
        "fusion_stock_master": [
            {"code": code, "name": name, "market": "SZ" if code[0] == "0" else "SH", "sec_type": "stock",
             "exchange": "SZSE" if code[0] == "0" else "SSE", "list_status": "L", "list_date": "2001-08-27",
             "is_st": False, "total_shares": 1_256_000_000, "float_shares": 1_256_000_000,
             "pinyin_initials": "x", "pinyin_full": "x"}
            for code, name in NAMES.items()
        ],
        "fusion_stock_industry": [
            {"code": code, "name": NAMES[code], "industry": name, "sw_l1": sw, "sw_l1_name": name}
            for code, (sw, name) in INDUSTRY.items()
        ],
        "fusion_quote_snapshot": [
            {"code": code, "trade_date": DAY, "name": NAMES[code], "price": one["price"],
             "change_pct": one["pct"], "open": one["price"], "high": one["price"], "low": one["price"],
             "last_close": one["price"], "volume": 2_150_000, "amount": 3_080_000_000.0,
             "turnover_pct": 0.17, "pe_ttm": one["pe"], "pb": one["pb"]}
            for code, one in FIGURES.items()
        ],
        "fusion_valuation": [
            {"code": code, "date": day, "name": NAMES[code], "price": one["price"] - off,
             "pe_ttm": one["pe"] - off, "pb": one["pb"], "ps_ttm": 9.9, "peg": 1.46, "dividend_yield": 3.62,
             "total_market_cap": one["cap"], "float_market_cap": one["cap"], "eps_ttm": one["eps"],
             "bvps": one["bvps"], "eps_fy1": one["eps"] * 1.08, "eps_fy2": one["eps"] * 1.15,
             "forecast_orgs": 31, "pe_pct_3y": 22.4, "pb_pct_3y": 18.3}
            for code, one in FIGURES.items() for day, off in ((BEFORE, 0.4), (DAY, 0.0))
        ],
        "fusion_finance_indicator": [
            {"code": code, "report_period": period, "ann_date": reported, "name": NAMES[code],
             "revenue": one["revenue"] * part, "revenue_yoy": one["yoy"], "net_profit": one["profit"] * part,
             "net_profit_yoy": one["yoy"] + 0.6, "gross_margin": 61.3, "net_margin": 33.1, "roe": one["roe"],
             "debt_ratio": one["debt"], "eps": one["eps"] / 2, "operating_cash_flow": one["profit"] * 0.9}
            for code, one in FIGURES.items()
            for period, reported, part in (
                ("2026-06-30", "2026-08-12", 1.0), ("2026-03-31", "2026-04-25", 0.55),
                                       ("2026-09-30", "2026-10-28", 9.0))
        ],
        "fusion_fund_flow": [
            {"code": code, "date": day, "close": one["price"], "change_pct": one["pct"],
             "main_net": one["net"] * part, "main_net_pct": 4.31}
            for code, one in FIGURES.items() for day, part in ((BEFORE, 0.5), (DAY, 1.0))
        ],
        "calc_factor_score": [
            {"trade_date": DAY, "code": code, "composite": one["score"], "momentum": 61.2,
             "quality_score": 88.1, "value": 35.5, "growth": 57.7, "trend": 52.3, "capital": 66.6,
             "stability": 80.2, "covered_weight": 1.0, "gate_blocked": False}
            for code, one in FIGURES.items()
        ],
        "raw_industry_valuation": [
            {"standard": "sw", "industry_code": sw, "date": DAY, "industry_name": name, "level": "l1",
             "pe_weighted": pe, "pb": pb, "dividend_yield": 3.3}
            for sw, name, pe, pb in (("801120", "食品饮料", 20.66, 4.43), ("801780", "银行", 6.84, 0.63))
        ],
        "fusion_announcement": [
            {"code": "600519", "pub_date": "2026-08-12", "title_key": "k1", "ann_type": "定期报告",
             "title": "贵州茅台2026年半年度报告"},
        ],
    }  # fmt: skip


def market() -> dict[str, list[dict[str, Any]]]:
    """Table -> rows."""
    return {
        "fusion_index_daily": [
            {"code": code, "date": DAY, "name": name, "scope": "cn", "close": close, "change_pct": pct,
             "open": close, "high": close, "low": close, "amount": 5.1e11}
            for code, name, close, pct in (("sh000001", "上证指数", 3825.76, 0.83),
                                           ("sz399001", "深证成指", 12166.06, -0.26))
        ],
        "calc_market_phase": [
            {"trade_date": DAY, "phase": "rising", "phase_label": "升温", "score": 63.4, "up_count": 3214,
             "down_count": 1987, "flat_count": 152, "limit_up_count": 71, "limit_down_count": 6,
             "broken_count": 23, "max_limit_days": 5, "amount": 2.31e12, "sample_based": False},
        ],
        "calc_industry_rank": [
            {"trade_date": DAY, "level": "sw_l1",
            "industry_code": sw, "industry_name": name,
             "rank_no": place, "change_pct": pct, "main_net": net}
            for place, (sw, name, pct, net) in enumerate(
                (("801120", "食品饮料", 2.14, 8.2e8), ("801780", "银行", -0.92, -3.7e8)), 1)
        ],
        "raw_news_flash": [
            {"flash_id": "f1", "pub_time": f"{DAY} 14:02:00", "title": "央行开展1500亿元逆回购操作",
             "importance": 2},
            {"flash_id": "f3", "pub_time": f"{DAY} 14:03:00", "title": "央行开展1500亿元逆回购操作",
             "importance": 2},
            {"flash_id": "f2", "pub_time": f"{DAY} 18:30:00", "title": "尚未发生的消息", "importance": 3},
        ],
        "fusion_macro_indicator": [
            {"indicator": name, "period_date": period, "region": "cn", "category": "price", "name": title,
             "freq": "m", "value": value, "unit": unit, "publish_date": reported, "publish_estimated": False}
            for name, title, unit, period, reported, value in (
                ("cn_cpi_yoy", "居民消费价格同比", "pct", "2026-07-31", "2026-08-09", 0.4),
                ("cn_pmi_mfg", "制造业采购经理指数", "index", "2026-07-31", "2026-07-31", 49.7),
                ("cn_rmb_loan", "新增人民币贷款", "yi", "2026-07-31", "2026-08-14", 7261.0),
            )
        ],
    }  # fmt: skip
