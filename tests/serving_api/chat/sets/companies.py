"""Seven companies of different kinds, no two of which share a figure."""

from typing import Any

DAY, BEFORE = "2026-08-21", "2026-08-20"
# Code; price, change, pe, pb, capitalisation (10,000 yuan), roe, revenue, growth, profit,
# debt, net inflow of the day, score, dividend yield.
FIGURES = """\
300750 262.31 3.18 24.17 5.06 1.1547e8 12.83 1.7889e11 7.27 3.0485e10 62.59 8.136e8 74.6 1.74
600036 42.13 -0.87 7.14 0.96 1.0625e8 7.05 1.69923e11 -1.72 7.493e10 90.12 -2.457e8 58.3 4.75
600276 68.52 2.06 57.31 8.43 4.548e7 8.94 1.5761e10 15.88 4.45e9 8.36 3.912e8 66.1 0.29
601088 38.76 -1.45 14.62 1.83 7.701e7 5.92 1.38109e11 -18.34 2.4641e10 23.74 -1.685e8 52.7 5.83
002024 1.94 -4.9 -12.36 1.57 1.805e6 -3.41 2.5895e10 -0.44 -4.86e8 91.83 -3.07e7 21.9 0.0
688981 95.07 5.64 148.9 5.11 7.602e7 1.57 3.2348e10 22.13 2.301e9 34.28 1.2043e9 69.8 0.13
000333 74.28 0.41 13.25 2.47 5.693e7 11.86 2.51124e11 15.58 2.6014e10 60.41 5.28e7 71.2 5.39"""
# Code, name, industry; largest holder, its part, number of holders, notice.
TEXTS = """\
300750 宁德时代 801730 电力设备 厦门瑞庭投资有限公司 22.47 243817 关于以集中竞价交易方式回购公司股份的进展公告
600036 招商银行 801780 银行 招商局轮船有限公司 13.04 486205 2025年年度权益分派实施公告
600276 恒瑞医药 801150 医药生物 江苏恒瑞医药集团有限公司 23.15 369744 关于获得药物临床试验批准通知书的公告
601088 中国神华 801950 煤炭 国家能源投资集团有限责任公司 69.52 157638 2026年7月主要运营数据公告
002024 ST易购 801200 商贸零售 淘宝（中国）软件有限公司 19.99 305912 关于公司股票被实施其他风险警示的公告
688981 中芯国际 801080 电子 大唐控股（香港）投资有限公司 14.08 254361 关于向特定对象发行股票申请获受理的公告
000333 美的集团 801110 家用电器 美的控股有限公司 28.33 198457 关于子公司取得发明专利的自愿性披露公告"""
NAMES = {line.split()[0]: line.split()[1] for line in TEXTS.splitlines()}
INDUSTRIES = {line.split()[0]: tuple(line.split()[2:4]) for line in TEXTS.splitlines()}


def _company(line: str, texts: str) -> dict[str, list[dict[str, Any]]]:
    code, name, sw, industry, holder, part, holders, notice = texts.split()
    price, pct, pe, pb, cap, roe, revenue, yoy, profit, debt, net, score, dividend = map(
        float, line.split()[1:]
    )
    last = round(price / (1 + pct / 100), 2)
    days = ((BEFORE, last, 0.62 - pct / 3), (DAY, price, pct))
    tilt = (int(code) % 17) / 10
    return {
        "fusion_stock_master": [
            {
                "code": code,
                "name": name,
                "market": "SH" if code[0] == "6" else "SZ",
                "sec_type": "stock",
                "exchange": "SSE" if code[0] == "6" else "SZSE",
                "list_status": "L",
                "is_st": name.startswith("ST"),
                "list_date": f"20{10 + int(code) % 9}-06-{11 + int(code) % 13}",
                "total_shares": round(cap * 1e4 / price),
                "float_shares": round(cap * 0.93e4 / price),
                "pinyin_initials": "x",
                "pinyin_full": "x",
            },
        ],
        "fusion_stock_industry": [
            {"code": code, "name": name, "industry": industry, "sw_l1": sw, "sw_l1_name": industry},
        ],
        "fusion_quote_snapshot": [
            {
                "code": code,
                "trade_date": DAY,
                "name": name,
                "price": price,
                "change_pct": pct,
                "open": round(last * 1.004, 2),
                "high": round(max(price, last) * 1.011, 2),
                "low": round(min(price, last) * 0.991, 2),
                "last_close": last,
                "pe_ttm": pe,
                "pb": pb,
                "volume": round(21_500_000 * (1 + tilt)),
                "amount": round(21_500_000 * (1 + tilt) * price, 2),
                "turnover_pct": round(0.68 + tilt, 2),
            },
        ],
        "fusion_kline_daily": [
            {
                "code": code,
                "date": day,
                "market": "SH" if code[0] == "6" else "SZ",
                "sec_type": "stock",
                "open": round(close * 0.997, 2),
                "high": round(close * 1.012, 2),
                "low": round(close * 0.989, 2),
                "close": close,
                "last_close": last,
                "volume": round(21_500_000 * (1 + tilt)),
                "amount": round(21_500_000 * (1 + tilt) * close, 2),
                "change_pct": round(change, 2),
                "turnover_pct": round(0.68 + tilt, 2),
                "adj_factor": 1.0,
            }
            for day, close, change in days
        ],
        "fusion_valuation": [
            {
                "code": code,
                "date": day,
                "name": name,
                "price": close,
                "pe_ttm": round(pe * close / price, 2),
                "pb": round(pb * close / price, 2),
                "ps_ttm": round(1.13 + tilt, 2),
                "peg": round(0.87 + tilt, 2),
                "dividend_yield": dividend,
                "total_market_cap": cap,
                "float_market_cap": cap * 0.93,
                "eps_ttm": round(price / pe, 2),
                "bvps": round(price / pb, 2),
                "eps_fy1": round(abs(price / pe) * 1.09, 2),
                "eps_fy2": round(abs(price / pe) * 1.21, 2),
                "forecast_orgs": 11 + int(code) % 23,
                "pe_pct_3y": round(18.4 + 31 * tilt, 1),
                "pb_pct_3y": round(12.7 + 29 * tilt, 1),
            }
            for day, close, _ in days
        ],
        "fusion_finance_indicator": [
            {
                "code": code,
                "report_period": period,
                "ann_date": reported,
                "name": name,
                "revenue": revenue * share,
                "revenue_yoy": round(yoy + more, 2),
                "net_profit": profit * share,
                "net_profit_yoy": round(yoy * 1.3 + more, 2),
                "gross_margin": round(18.6 + 14 * tilt + more, 2),
                "net_margin": round(profit / revenue * 100, 2),
                "roe": round(roe * share, 2),
                "debt_ratio": round(debt - more, 2),
                "eps": round(price / pe * 0.52 * share, 2),
                "operating_cash_flow": profit * share * 1.17,
            }
            for period, reported, share, more in (
                ("2026-06-30", "2026-08-12", 1.0, 0.0),
                ("2026-03-31", "2026-04-25", 0.47, 1.36),
            )
        ],
        "fusion_fund_flow": [
            {
                "code": code,
                "date": day,
                "close": close,
                "change_pct": round(change, 2),
                "main_net": net * part_of,
                "main_net_pct": round(net / 4.3e8 * part_of, 2),
            }
            for (day, close, change), part_of in zip(days, (0.43, 1.0), strict=True)
        ],
        "calc_factor_score": [
            {
                "trade_date": DAY,
                "code": code,
                "composite": score,
                "momentum": round(score - 3.7, 1),
                "quality_score": round(score + 8.4, 1),
                "value": round(91.3 - score, 1),
                "growth": round(score - 9.6, 1),
                "trend": round(score - 14.3, 1),
                "capital": round(score + 2.9, 1),
                "stability": round(107.1 - score, 1),
                "covered_weight": 1.0,
                "gate_blocked": False,
            },
        ],
        "calc_indicator_daily": [
            {
                "code": code,
                "date": DAY,
                "close": price,
                "ma5": round(price * 0.987, 2),
                "ma10": round(price * 0.974, 2),
                "ma20": round(price * 1.023, 2),
                "ma60": round(price * 0.941, 2),
                "rsi6": round(48.2 + 9 * tilt, 2),
                "rsi14": round(51.7 + 7 * tilt, 2),
                "macd_dif": round(price * 0.0123, 3),
                "macd_dea": round(price * 0.0094, 3),
                "macd_hist": round(price * 0.0058, 3),
                "kdj_k": round(61.4 + 6 * tilt, 2),
                "kdj_d": round(57.8 + 5 * tilt, 2),
                "kdj_j": round(68.6 + 8 * tilt, 2),
                "boll_upper": round(price * 1.078, 2),
                "boll_mid": round(price * 1.023, 2),
                "boll_lower": round(price * 0.938, 2),
                "atr14": round(price * 0.021, 3),
                "chg_5d": round(pct * 1.7 + 0.3, 2),
                "chg_20d": round(pct * -2.3 - 0.9, 2),
                "chg_60d": round(pct * 4.1 + 2.2, 2),
                "vol_ratio_5": round(0.83 + tilt / 2, 2),
            },
        ],
        "calc_chip_daily": [
            {
                "code": code,
                "date": DAY,
                "close": price,
                "profit_ratio_pct": round(37.6 + 22 * tilt, 2),
                "avg_cost": round(price * 1.031, 2),
                "cost_90_low": round(price * 0.886, 2),
                "cost_90_high": round(price * 1.154, 2),
                "concentration_90_pct": round(13.1 + 2 * tilt, 2),
                "support_price": round(price * 0.952, 2),
                "resistance_price": round(price * 1.047, 2),
            },
        ],
        "fusion_margin": [
            {
                "code": code,
                "date": DAY,
                "name": name,
                "rzye": round(cap * 61 + 7e7 * tilt, 2),
                "rzmre": round(cap * 2.3, 2),
                "rzjme": round(cap * 0.37, 2),
                "rqye": round(cap * 0.41, 2),
                "rzrqye": round(cap * 61.41 + 7e7 * tilt, 2),
            },
        ],
        "fusion_holder": [
            {
                "code": code,
                "date": "2026-06-30",
                "ann_date": "2026-08-12",
                "holder_num": int(holders),
                "change_ratio": round(-2.83 + 1.9 * tilt, 2),
                "avg_shares": round(cap * 1e4 / price / int(holders), 1),
            },
        ],
        "raw_top_holders": [
            {
                "code": code,
                "report_period": "2026-06-30",
                "holder_type": "top10",
                "holder_key": f"h{rank}",
                "rank_no": rank,
                "holder_name": who,
                "hold_shares": round(cap * 100 / price * ratio),
                "ratio_pct": ratio,
            }
            for rank, who, ratio in (
                (1, holder, float(part)),
                (2, "香港中央结算有限公司", round(float(part) / 2.9, 2)),
            )
        ],
        "fusion_dividend": [
            {
                "code": code,
                "report_period": "2025-12-31",
                "ann_date": "2026-04-25",
                "name": name,
                "ex_date": "2026-06-18",
                "record_date": "2026-06-17",
                "bonus_rmb": round(price * dividend / 100, 3) * 10,
                "progress": "实施",
                "plan_text": f"每10股派{round(price * dividend / 100, 3) * 10:.2f}元",
            },
        ],
        "raw_earnings_forecast": [
            {
                "code": code,
                "report_period": "2026-09-30",
                "indicator": "归母净利润",
                "ann_date": "2026-08-18",
                "predict_type": "预增" if yoy > 0 else "预减",
                "lower": profit * 1.4,
                "upper": profit * 1.6,
                "change_lower_pct": round(yoy + 3.1, 2),
                "change_upper_pct": round(yoy + 9.4, 2),
                "content": f"预计2026年前三季度净利润{'增长' if yoy > 0 else '下降'}",
            },
        ],
        "fusion_stock_profile": [
            {
                "code": code,
                "full_name": f"{name}股份有限公司",
                "name_en": "X",
                "chairman": f"王{name[0]}明",
                "employees": 8_000 + int(code) % 9_000,
                "province": "广东",
                "city": "深圳",
                "main_business": f"{industry}业务",
                "controller": holder,
                "established_date": "1998-03-09",
            },
        ],
        "cninfo_periodic_report": [
            {"code": code, "report_period": "2026-09-30", "name": name, "first_date": "2026-10-29"},
        ],
        "raw_risk_goodwill": [
            {
                "code": code,
                "report_period": "2026-06-30",
                "name": name,
                "goodwill": revenue * 0.013,
                "goodwill_equity_ratio_pct": round(1.7 + 2.3 * tilt, 2),
                "ann_date": "2026-08-12",
            },
        ],
        "raw_risk_pledge": [
            {
                "trade_date": DAY,
                "code": code,
                "name": name,
                "pledge_ratio": round(2.4 + 3.1 * tilt, 2),
                "pledge_shares_wan": round(cap / price * 0.031, 2),
                "pledge_count": 3 + int(code) % 11,
            },
        ],
        "fusion_announcement": [
            {
                "code": code,
                "pub_date": "2026-08-18",
                "title_key": "k1",
                "ann_type": "临时公告",
                "title": f"{name}：{notice}",
            },
        ],
        "fusion_news": [
            {
                "code": code,
                "title_key": "n1",
                "pub_time": f"{DAY} 09:12:00",
                "news_type": "news",
                "source": "财联社",
                "title": f"{name}今日获机构调研，回应下半年经营计划",
            },
        ],
        "raw_reports": [
            {
                "code": code,
                "info_code": "i1",
                "pub_date": "2026-08-14",
                "org": "中信证券",
                "rating": "买入",
                "title": f"{name}中报点评：经营质量稳步改善",
                "eps_fy1": round(abs(price / pe) * 1.09, 2),
                "target_price": round(price * 1.23, 2),
            },
        ],
    }


def companies() -> dict[str, list[dict[str, Any]]]:
    """Table -> rows."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for line, texts in zip(FIGURES.splitlines(), TEXTS.splitlines(), strict=True):
        for table, some in _company(line, texts).items():
            tables.setdefault(table, []).extend(some)
    tables["raw_industry_valuation"] = [
        {
            "standard": "sw",
            "industry_code": sw,
            "date": DAY,
            "industry_name": name,
            "level": "l1",
            "pe_weighted": round(9.37 + 6.2 * place, 2),
            "pb": round(0.71 + 0.83 * place, 2),
            "dividend_yield": round(4.44 - 0.47 * place, 2),
        }
        for place, (sw, name) in enumerate(INDUSTRIES.values())
    ]
    return tables
