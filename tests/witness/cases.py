"""What a public client's function returns, and what of ours must be equal to it, row by row.

`columns` are pairs `theirs=ours`, with a factor (`*0.01`: theirs is ours times it) and the decimals to which
our parser rounds (`~4`) where there are such. `$words` in the arguments are the values of `Market.named`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tests.witness.market import DAY, NOW, PERIOD, YEAR_END, Market

IN_ORDER, ITEMS = "ORDER", "ITEM"


@dataclass(frozen=True)
class Case:
    """`theirs` and `ours` are key columns joined by `+`; IN_ORDER compares row by row, ITEMS one record that
    they show as pairs. `some`: ours has not all of their rows, or names some of them in another way."""

    function: str
    arguments: Mapping[str, Any]
    ask: Callable[[Market], pd.DataFrame]
    theirs: str
    ours: str
    columns: str
    some: bool = False
    quick: bool = False


def wide(items: pd.DataFrame, by: str) -> pd.DataFrame:
    """Rows of one item each as one row of all items."""
    return items.pivot_table(index=by, columns="item", values="value", aggfunc="first").reset_index()


def upper(contracts: pd.DataFrame) -> pd.DataFrame:
    """Contracts under the names of that client."""
    return contracts.assign(symbol=contracts["symbol"].str.upper())


_GOVERNMENT = "中债国债收益率曲线"

CASES = (
    Case(
        "stock_zh_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
        quick=True,
    ),
    Case(
        "stock_sh_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
    ),
    Case(
        "stock_sz_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
    ),
    Case(
        "stock_bj_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
        quick=True,
    ),
    Case(
        "stock_cy_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
    ),
    Case(
        "stock_kc_a_spot_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb "
        "总市值=total_market_cap*10000~2 流通市值=float_market_cap*10000~2 "
        "涨速=speed_pct 5分钟涨跌=change_pct_5m 60日涨跌幅=change_pct_60d "
        "年初至今涨跌幅=change_pct_ytd",
    ),
    Case(
        "stock_zh_a_st_em",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb",
    ),
    Case(
        "stock_zh_b_spot_em",
        {},
        lambda m: m.eastmoney.ulist(["sh900961", "sz200061"]),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio 换手率=turnover_pct 总市值=total_market_cap*10000~2 "
        "60日涨跌幅=change_pct_60d 年初至今涨跌幅=change_pct_ytd",
    ),
    Case(
        "stock_individual_fund_flow_rank",
        {"indicator": "今日"},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 今日涨跌幅=change_pct 今日主力净流入-净额=main_net "
        "今日主力净流入-净占比=main_net_pct 今日超大单净流入-净额=super_net "
        "今日超大单净流入-净占比=super_net_pct 今日大单净流入-净额=large_net "
        "今日大单净流入-净占比=large_net_pct 今日中单净流入-净额=medium_net "
        "今日中单净流入-净占比=medium_net_pct 今日小单净流入-净额=small_net "
        "今日小单净流入-净占比=small_net_pct",
        some=True,
        quick=True,
    ),
    Case(
        "stock_main_fund_flow",
        {},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 今日排行榜-主力净占比=main_net_pct "
        "今日排行榜-今日涨跌=change_pct 5日排行榜-5日涨跌=change_pct_5d "
        "10日排行榜-10日涨跌=change_pct_10d 所属板块=industry",
        some=True,
    ),
    Case(
        "stock_board_industry_name_em",
        {},
        lambda m: m.eastmoney.boards("industry"),
        "板块代码",
        "board_code",
        "板块名称=board_name 最新价=price 涨跌额=change_amt 涨跌幅=change_pct "
        "总市值=total_market_cap*10000~2 换手率=turnover_pct 上涨家数=up_count "
        "下跌家数=down_count 领涨股票=leader_name",
        quick=True,
    ),
    Case(
        "stock_board_concept_name_em",
        {},
        lambda m: m.eastmoney.boards("concept"),
        "板块代码",
        "board_code",
        "板块名称=board_name 最新价=price 涨跌额=change_amt 涨跌幅=change_pct "
        "总市值=total_market_cap*10000~2 换手率=turnover_pct 上涨家数=up_count "
        "下跌家数=down_count 领涨股票=leader_name",
    ),
    Case(
        "stock_sector_fund_flow_rank",
        {"indicator": "今日", "sector_type": "行业资金流"},
        lambda m: m.eastmoney.boards("industry"),
        "名称",
        "board_name",
        "今日涨跌幅=change_pct 今日主力净流入-净额=main_net "
        "今日主力净流入-净占比=main_net_pct 今日超大单净流入-净额=super_net "
        "今日大单净流入-净额=large_net 今日中单净流入-净额=medium_net "
        "今日小单净流入-净额=small_net 今日主力净流入最大股=inflow_leader_name",
        quick=True,
    ),
    Case(
        "stock_board_industry_cons_em",
        {"symbol": "$industry"},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb",
    ),
    Case(
        "stock_board_concept_cons_em",
        {"symbol": "$concept"},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "换手率=turnover_pct 市盈率-动态=pe_dynamic 市净率=pb",
    ),
    Case(
        "stock_sector_fund_flow_summary",
        {"symbol": "$industry", "indicator": "今日"},
        lambda m: m.eastmoney.stock_list(),
        "代码",
        "code",
        "名称=name 最新价=price 今天涨跌幅=change_pct 今日主力净流入-净额=main_net "
        "今日主力净流入-净占比=main_net_pct 今日超大单净流入-净额=super_net "
        "今日超大单净流入-净占比=super_net_pct 今日大单净流入-净额=large_net "
        "今日大单净流入-净占比=large_net_pct 今日中单净流入-净额=medium_net "
        "今日中单净流入-净占比=medium_net_pct 今日小单净流入-净额=small_net "
        "今日小单净流入-净占比=small_net_pct",
    ),
    Case(
        "stock_sector_fund_flow_hist",
        {"symbol": "$industry"},
        lambda m: m.eastmoney.board_flow_daily(m.industry.code),
        "日期",
        "date",
        "主力净流入-净额=main_net 主力净流入-净占比=main_net_pct "
        "超大单净流入-净额=super_net 超大单净流入-净占比=super_net_pct "
        "大单净流入-净额=large_net 大单净流入-净占比=large_net_pct "
        "中单净流入-净额=medium_net 中单净流入-净占比=medium_net_pct "
        "小单净流入-净额=small_net 小单净流入-净占比=small_net_pct",
    ),
    Case(
        "stock_concept_fund_flow_hist",
        {"symbol": "$concept"},
        lambda m: m.eastmoney.board_flow_daily(m.concept.code),
        "日期",
        "date",
        "主力净流入-净额=main_net 主力净流入-净占比=main_net_pct "
        "超大单净流入-净额=super_net 超大单净流入-净占比=super_net_pct "
        "大单净流入-净额=large_net 大单净流入-净占比=large_net_pct "
        "中单净流入-净额=medium_net 中单净流入-净占比=medium_net_pct "
        "小单净流入-净额=small_net 小单净流入-净占比=small_net_pct",
    ),
    Case(
        "stock_individual_fund_flow",
        {"stock": "$code", "market": "sh"},
        lambda m: m.eastmoney.fund_flow_daily(m.stock.symbol),
        "日期",
        "date",
        "收盘价=close 涨跌幅=change_pct 主力净流入-净额=main_net "
        "主力净流入-净占比=main_net_pct 超大单净流入-净额=super_net "
        "超大单净流入-净占比=super_net_pct 大单净流入-净额=large_net "
        "大单净流入-净占比=large_net_pct 中单净流入-净额=medium_net "
        "中单净流入-净占比=medium_net_pct 小单净流入-净额=small_net "
        "小单净流入-净占比=small_net_pct",
        quick=True,
    ),
    Case(
        "stock_zh_index_spot_em",
        {"symbol": "上证系列指数"},
        lambda m: m.eastmoney.ulist(["sh000001", "sh000300", "sh000852", "sh000905", "sz399001", "sz399006"]),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 涨跌额=change_amt 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 最高=high 最低=low 今开=open 昨收=last_close "
        "量比=volume_ratio",
        quick=True,
    ),
    Case(
        "stock_zh_a_hist",
        {
            "symbol": "$code",
            "period": "daily",
            "start_date": "20260701",
            "end_date": "20260821",
            "adjust": "",
        },
        lambda m: m.eastmoney.daily_bars(m.stock.symbol, "2026-07-01", "2026-08-21"),
        "日期",
        "date",
        "股票代码=code 开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 "
        "成交额=amount 振幅=amplitude_pct 涨跌幅=change_pct 涨跌额=change_amt "
        "换手率=turnover_pct",
        quick=True,
    ),
    Case(
        "index_zh_a_hist",
        {"symbol": "000001", "period": "daily", "start_date": "20260701", "end_date": "20260821"},
        lambda m: m.eastmoney.daily_bars("sh000001", "2026-07-01", "2026-08-21"),
        "日期",
        "date",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount "
        "振幅=amplitude_pct 涨跌幅=change_pct 涨跌额=change_amt",
    ),
    Case(
        "stock_zh_index_daily_em",
        {"symbol": "sh000001"},
        lambda m: m.eastmoney.daily_bars("sh000001"),
        "date",
        "date",
        "open=open close=close high=high low=low volume=volume*0.01 amount=amount",
    ),
    Case(
        "fund_etf_hist_em",
        {"symbol": "$etf", "period": "daily", "start_date": "20260701", "end_date": "20260821"},
        lambda m: m.eastmoney.daily_bars(m.etf.symbol, "2026-07-01", "2026-08-21"),
        "日期",
        "date",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount "
        "振幅=amplitude_pct 涨跌幅=change_pct 涨跌额=change_amt 换手率=turnover_pct",
    ),
    Case(
        "stock_zh_a_hist_min_em",
        {"symbol": "$code", "period": "5"},
        lambda m: m.eastmoney.kline(m.stock.symbol, klt=5),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount",
        quick=True,
    ),
    Case(
        "fund_etf_hist_min_em",
        {"symbol": "$etf", "period": "5"},
        lambda m: m.eastmoney.kline(m.etf.symbol, klt=5),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount",
    ),
    Case(
        "bond_zh_hs_cov_min",
        {"symbol": "$bond_symbol", "period": "15"},
        lambda m: m.eastmoney.kline(m.bond.symbol, klt=15),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.1 成交额=amount",
    ),
    Case(
        "index_zh_a_hist_min_em",
        {"symbol": "000001", "period": "1"},
        lambda m: m.eastmoney.trends2("sh000001", 5),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount 均价=avg_price",
    ),
    Case(
        "stock_zh_a_hist_pre_min_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.trends2(m.stock.symbol, 1),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.01 成交额=amount 最新价=avg_price",
        quick=True,
    ),
    Case(
        "bond_zh_hs_cov_pre_min",
        {"symbol": "$bond_symbol"},
        lambda m: m.eastmoney.trends2(m.bond.symbol, 1),
        "时间",
        "datetime",
        "开盘=open 收盘=close 最高=high 最低=low 成交量=volume*0.1 成交额=amount 最新价=avg_price",
    ),
    Case(
        "stock_bid_ask_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.stock_get(m.stock.symbol),
        "ITEM",
        "",
        "sell_5=ask5 sell_5_vol=ask5_vol sell_4=ask4 sell_4_vol=ask4_vol sell_3=ask3 "
        "sell_3_vol=ask3_vol sell_2=ask2 sell_2_vol=ask2_vol sell_1=ask1 "
        "sell_1_vol=ask1_vol buy_1=bid1 buy_1_vol=bid1_vol buy_2=bid2 "
        "buy_2_vol=bid2_vol buy_3=bid3 buy_3_vol=bid3_vol buy_4=bid4 buy_4_vol=bid4_vol "
        "buy_5=bid5 buy_5_vol=bid5_vol 最新=price 均价=avg_price 涨幅=change_pct "
        "涨跌=change_amt 总手=volume*0.01 金额=amount 换手=turnover_pct "
        "量比=volume_ratio 最高=high 最低=low 今开=open 昨收=last_close 涨停=limit_up "
        "跌停=limit_down 外盘=outer_volume*0.01 内盘=inner_volume*0.01",
        quick=True,
    ),
    Case(
        "stock_individual_info_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.stock_get(m.stock.symbol),
        "ITEM",
        "",
        "最新=price 股票代码=symbol 股票简称=name 总股本=total_shares "
        "流通股=float_shares 总市值=total_market_cap*10000~2 "
        "流通市值=float_market_cap*10000~2 行业=industry 上市时间=list_date",
    ),
    Case(
        "bond_cov_comparison",
        {},
        lambda m: m.eastmoney.bond_list(),
        "转债代码",
        "code",
        "转债名称=name 转债最新价=price 转债涨跌幅=change_pct 正股代码=stock_code "
        "正股名称=stock_name 正股最新价=stock_price 正股涨跌幅=stock_change_pct "
        "转股价=convert_price 转股价值=convert_value 转股溢价率=premium_pct "
        "回售触发价=putback_price 强赎触发价=force_redeem_price "
        "到期赎回价=maturity_redeem_price 纯债价值=pure_bond_value 上市日期=list_date",
        quick=True,
    ),
    Case(
        "bond_zh_cov_info",
        {"symbol": "$bond"},
        lambda m: m.eastmoney.bond_terms(),
        "SECURITY_CODE",
        "code",
        "SECUCODE=code SECURITY_NAME_ABBR=name LISTING_DATE=list_date "
        "CONVERT_STOCK_CODE=stock_code VALUE_DATE=value_date RATING=rating "
        "EXPIRE_DATE=maturity_date INTEREST_RATE_EXPLAIN=coupons "
        "INITIAL_TRANSFER_PRICE=initial_convert_price ACTUAL_ISSUE_SCALE=issue_size_yi "
        "SECURITY_SHORT_NAME=stock_name",
    ),
    Case(
        "fund_lof_spot_em",
        {},
        lambda m: m.eastmoney.fund_list("lof"),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 成交量=volume*0.01 成交额=amount "
        "最高价=high 最低价=low 换手率=turnover_pct "
        "总市值=total_market_cap*10000~2",
    ),
    Case(
        "reits_realtime_em",
        {},
        lambda m: m.eastmoney.fund_list("reit"),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 成交量=volume*0.01 成交额=amount 最高价=high 最低价=low",
    ),
    Case(
        "stock_zh_ah_spot_em",
        {},
        lambda m: m.eastmoney.ah_pairs(),
        "H股代码",
        "h_code",
        "名称=h_name 最新价-HKD=h_price A股代码=a_code 最新价-RMB=a_price 溢价=premium_pct",
        quick=True,
    ),
    Case(
        "stock_hot_rank_em",
        {},
        lambda m: m.eastmoney.popularity(),
        "代码",
        "code",
        "当前排名=rank_no",
        quick=True,
    ),
    Case(
        "stock_zt_pool_em",
        {"date": "$day_up"},
        lambda m: m.eastmoney.limit_pool("up", m.pool_days["up"]),
        "代码",
        "code",
        "名称=name 涨跌幅=change_pct~4 最新价=price 成交额=amount "
        "流通市值=float_market_cap*10000~2 总市值=total_market_cap*10000~2 "
        "换手率=turnover_pct 封板资金=seal_fund 炸板次数=break_times 连板数=limit_days "
        "所属行业=industry",
        quick=True,
    ),
    Case(
        "stock_zt_pool_zbgc_em",
        {"date": "$day_up"},
        lambda m: m.eastmoney.limit_pool("broken", m.pool_days["broken"]),
        "代码",
        "code",
        "名称=name 涨跌幅=change_pct~4 最新价=price 涨停价=limit_price 成交额=amount "
        "流通市值=float_market_cap*10000~2 总市值=total_market_cap*10000~2 "
        "换手率=turnover_pct 炸板次数=break_times 振幅=amplitude_pct~4 "
        "所属行业=industry",
        quick=True,
    ),
    Case(
        "stock_zt_pool_dtgc_em",
        {"date": "$day_up"},
        lambda m: m.eastmoney.limit_pool("down", m.pool_days["down"]),
        "代码",
        "code",
        "名称=name 涨跌幅=change_pct 最新价=price 成交额=amount "
        "流通市值=float_market_cap*10000~2 总市值=total_market_cap*10000~2 "
        "换手率=turnover_pct 封单资金=seal_fund 连续跌停=limit_days "
        "开板次数=break_times 所属行业=industry",
        quick=True,
    ),
    Case(
        "stock_zt_pool_previous_em",
        {"date": "$day_up"},
        lambda m: m.eastmoney.limit_pool("prev", m.pool_days["prev"]),
        "代码",
        "code",
        "名称=name 涨跌幅=change_pct~4 最新价=price 涨停价=limit_price 成交额=amount "
        "流通市值=float_market_cap*10000~2 总市值=total_market_cap*10000~2 "
        "换手率=turnover_pct 振幅=amplitude_pct~4 昨日连板数=limit_days "
        "所属行业=industry",
        quick=True,
    ),
    Case(
        "stock_zt_pool_strong_em",
        {"date": "$day_up"},
        lambda m: m.eastmoney.limit_pool("strong", m.pool_days["strong"]),
        "代码",
        "code",
        "名称=name 涨跌幅=change_pct~4 最新价=price 涨停价=limit_price 成交额=amount "
        "流通市值=float_market_cap*10000~2 总市值=total_market_cap*10000~2 "
        "换手率=turnover_pct 所属行业=industry",
        quick=True,
    ),
    Case(
        "stock_changes_em",
        {"symbol": "大笔买入"},
        lambda m: m.eastmoney.stock_changes().rows.query("type_label=='大笔买入'"),
        "时间+代码",
        "time+code",
        "名称=name 板块=type_label 相关信息=info",
    ),
    Case(
        "stock_yjbb_em",
        {"date": "20260331"},
        lambda m: m.eastmoney.summaries(PERIOD),
        "股票代码",
        "code",
        "每股收益=eps 营业总收入-营业总收入=revenue 营业总收入-同比增长=revenue_yoy~4 "
        "净利润-净利润=net_profit 净利润-同比增长=net_profit_yoy~4 每股净资产=bvps "
        "净资产收益率=roe~4 每股经营现金流量=ocfps~4 销售毛利率=gross_margin~4 "
        "最新公告日期=ann_date",
        quick=True,
    ),
    Case(
        "stock_lrb_em",
        {"date": "20260331"},
        lambda m: wide(m.eastmoney.statements(PERIOD), "code"),
        "股票代码",
        "code",
        "净利润=net_profit 营业总收入=revenue 营业总支出-营业支出=operating_cost "
        "营业总支出-销售费用=sell_expense 营业总支出-管理费用=admin_expense "
        "营业总支出-财务费用=finance_expense 营业总支出-营业总支出=total_operating_cost "
        "营业利润=operating_profit 利润总额=total_profit",
    ),
    Case(
        "stock_xjll_em",
        {"date": "20260331"},
        lambda m: wide(m.eastmoney.statements(PERIOD), "code"),
        "股票代码",
        "code",
        "净现金流-净现金流=cash_increase 经营性现金流-现金流量净额=operating_cash_flow "
        "投资性现金流-现金流量净额=investing_cash_flow "
        "融资性现金流-现金流量净额=financing_cash_flow",
    ),
    Case(
        "stock_zcfz_em",
        {"date": "20260331"},
        lambda m: wide(m.eastmoney.statements(PERIOD), "code"),
        "股票代码",
        "code",
        "资产-货币资金=cash 资产-应收账款=accounts_receivable 资产-存货=inventory "
        "资产-总资产=total_assets 负债-总负债=total_liabilities "
        "股东权益合计=total_equity",
    ),
    Case(
        "stock_zcfz_bj_em",
        {"date": "20260331"},
        lambda m: wide(m.eastmoney.statements(PERIOD), "code"),
        "股票代码",
        "code",
        "资产-货币资金=cash 资产-应收账款=accounts_receivable 资产-存货=inventory "
        "资产-总资产=total_assets 负债-总负债=total_liabilities "
        "股东权益合计=total_equity",
        quick=True,
    ),
    Case(
        "stock_yjkb_em",
        {"date": "20251231"},
        lambda m: m.eastmoney.express(YEAR_END),
        "股票代码",
        "code",
        "每股收益=eps 营业收入-营业收入=revenue 营业收入-同比增长=revenue_yoy~4 "
        "净利润-净利润=net_profit 净利润-同比增长=net_profit_yoy~4 每股净资产=bvps "
        "净资产收益率=roe~4 公告日期=ann_date",
        quick=True,
    ),
    Case(
        "stock_yjyg_em",
        {"date": "20251231"},
        lambda m: m.eastmoney.forecasts(YEAR_END),
        "股票代码+业绩变动",
        "code+content",
        "预告类型=predict_type 上年同期值=prev_value 公告日期=ann_date",
        quick=True,
    ),
    Case(
        "stock_yysj_em",
        {"symbol": "沪深A股", "date": "20260331"},
        lambda m: m.eastmoney.disclosure_schedule(PERIOD),
        "股票代码",
        "code",
        "股票简称=name 首次预约时间=first_date 实际披露时间=actual_date",
    ),
    Case(
        "stock_zh_a_gdhs",
        {"symbol": "20260331"},
        lambda m: m.eastmoney.holder_counts(None, "2026-08-21"),
        "代码+股东户数统计截止日-本次",
        "code+date",
        "股东户数-本次=holder_num 股东户数-增减=change_num "
        "股东户数-增减比例=change_ratio~4 区间涨跌幅=interval_change_pct~4 "
        "户均持股市值=avg_market_cap~2 户均持股数量=avg_shares~2 总股本=total_shares "
        "公告日期=ann_date",
    ),
    Case(
        "stock_zh_a_gdhs_detail_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.holder_counts(None, "2026-08-21", [m.stock.code]),
        "股东户数统计截止日",
        "date",
        "区间涨跌幅=interval_change_pct~4 股东户数-本次=holder_num "
        "股东户数-增减=change_num 股东户数-增减比例=change_ratio~4 "
        "户均持股市值=avg_market_cap~2 户均持股数量=avg_shares~2 总股本=total_shares "
        "股东户数公告日期=ann_date 代码=code",
    ),
    Case(
        "stock_fhps_em",
        {"date": "20251231"},
        lambda m: m.eastmoney.dividends(None, "2026-08-21"),
        "代码+除权除息日",
        "code+ex_date",
        "名称=name 送转股份-送转总比例=transfer_ratio 送转股份-转股比例=transfer_ratio "
        "现金分红-现金分红比例=bonus_rmb 现金分红-股息率=dividend_yield*0.01~4 "
        "预案公告日=ann_date 股权登记日=record_date 最新公告日期=notice_date",
        some=True,
    ),
    Case(
        "stock_fhps_detail_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.dividends(None, "2026-08-21", [m.stock.code]),
        "除权除息日",
        "ex_date",
        "业绩披露日期=ann_date 现金分红-现金分红比例=bonus_rmb "
        "现金分红-股息率=dividend_yield*0.01~4 股权登记日=record_date "
        "最新公告日期=notice_date",
    ),
    Case(
        "stock_hold_management_detail_em",
        {},
        lambda m: m.eastmoney.executive_trades(None, "2026-08-21"),
        "代码+日期+变动人+变动后持股数",
        "code+change_date+person+after_shares",
        "变动股数=change_shares 成交均价=price 变动金额=amount 变动原因=reason "
        "董监高人员姓名=person 职务=title 变动人与董监高的关系=relation "
        "结束后持有=after_shares",
    ),
    Case(
        "stock_jgdy_tj_em",
        {"date": "20260701"},
        lambda m: m.eastmoney.surveys(None, "2026-08-21"),
        "代码+接待日期",
        "code+survey_date",
        "接待方式=method 接待人员=receiver 接待地点=place 公告日期=ann_date",
    ),
    Case(
        "stock_dzjy_mrmx",
        {"symbol": "A股", "start_date": "20260801", "end_date": "20260821"},
        lambda m: m.eastmoney.block_trades("2026-08-01", "2026-08-21"),
        "证券代码+交易日期",
        "code+date",
        "收盘价=close 买方营业部=buyer",
        quick=True,
    ),
    Case(
        "stock_lhb_detail_em",
        {"start_date": "20260801", "end_date": "20260821"},
        lambda m: m.eastmoney.billboard("2026-08-01", "2026-08-21"),
        "代码+上榜日+上榜原因",
        "code+date+reason",
        "名称=name 收盘价=close 涨跌幅=change_pct 龙虎榜净买额=net_buy*10000~2 "
        "龙虎榜买入额=buy_amt*10000~2 龙虎榜卖出额=sell_amt*10000~2 "
        "龙虎榜成交额=deal_amt*10000~2 市场总成交额=amount "
        "净买额占总成交比=net_ratio_pct~4 成交额占总成交比=deal_ratio_pct~4 "
        "换手率=turnover~2 上榜后1日=next_change_pct~4 上榜后5日=d5_change_pct~4 "
        "上榜后10日=d10_change_pct~4",
        some=True,
        quick=True,
    ),
    Case(
        "stock_restricted_release_detail_em",
        {"start_date": "20260701", "end_date": "20260821"},
        lambda m: m.eastmoney.lockups("2026-07-01", "2026-08-21"),
        "股票代码+解禁时间",
        "code+free_date",
        "限售股类型=share_type 解禁数量=able_shares 实际解禁数量=free_shares "
        "实际解禁市值=market_value 占解禁前流通市值比例=ratio_float_pct*0.01~4",
    ),
    Case(
        "stock_restricted_release_queue_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.lockups("2020-07-01", "2027-08-21", [m.stock.code]),
        "解禁时间",
        "free_date",
        "解禁股东数=holder_count 解禁数量=free_shares 实际解禁数量=free_shares "
        "实际解禁数量市值=market_value 占总市值比例=ratio_total_pct*0.01~4 "
        "占流通市值比例=ratio_float_pct*0.01~4 限售股类型=share_type",
    ),
    Case(
        "stock_gpzy_pledge_ratio_em",
        {"date": "20260814"},
        lambda m: m.eastmoney.pledges("2026-08-14", "2026-08-14"),
        "股票代码",
        "code",
        "股票简称=name 交易日期=trade_date 所属行业=industry 质押比例=pledge_ratio "
        "质押股数=pledge_shares_wan 质押市值=pledge_market_value~2 "
        "质押笔数=pledge_count 无限售股质押数=unrestricted_shares_wan "
        "限售股质押数=restricted_shares_wan 近一年涨跌幅=change_1y_pct",
    ),
    Case(
        "stock_sy_em",
        {"date": "20260630"},
        lambda m: m.eastmoney.goodwill("2026-06-30"),
        "股票代码",
        "code",
        "股票简称=name 商誉=goodwill 商誉占净资产比例=goodwill_equity_ratio_pct*0.01~4 "
        "净利润=net_profit 净利润同比=net_profit_yoy~4 上年商誉=goodwill_prev "
        "公告日期=ann_date",
    ),
    Case(
        "stock_sy_jz_em",
        {"date": "20251231"},
        lambda m: m.eastmoney.goodwill(YEAR_END),
        "股票代码",
        "code",
        "股票简称=name 商誉=goodwill 商誉减值=impairment "
        "商誉占净资产比例=goodwill_equity_ratio_pct*0.01~4 净利润=net_profit "
        "公告日期=ann_date",
    ),
    Case(
        "stock_comment_em",
        {},
        lambda m: m.eastmoney.comments("2026-08-21"),
        "代码",
        "code",
        "名称=name 最新价=price 涨跌幅=change_pct 换手率=turnover_pct 市盈率=pe_dynamic "
        "主力成本=prime_cost 机构参与度=org_participation_pct*0.01 综合得分=total_score "
        "上升=rank_change 目前排名=rank_no 关注指数=focus_index 交易日=trade_date",
        quick=True,
    ),
    Case(
        "stock_value_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.valuations("2020-01-01", "2026-08-21", [m.stock.code]),
        "数据日期",
        "date",
        "当日收盘价=price 总市值=total_market_cap*10000~2 "
        "流通市值=float_market_cap*10000~2 总股本=total_shares PE(TTM)=pe_ttm "
        "PE(静)=pe_static 市净率=pb PEG值=peg~4 市现率=pcf_ttm~4 市销率=ps_ttm",
    ),
    Case(
        "stock_zh_a_gbjg_em",
        {"symbol": "$dotted"},
        lambda m: m.eastmoney.share_changes(None, "2026-08-21", [m.stock.code]),
        "变更日期",
        "change_date",
        "总股本=total_shares 流通受限股份=restricted_shares "
        "其他内资持股(受限)=restricted_shares 境内自然人持股(受限)=restricted_shares "
        "已流通股份=float_shares 已上市流通A股=float_shares 变动原因=reason",
    ),
    Case(
        "stock_zygc_em",
        {"symbol": "$prefixed"},
        lambda m: m.eastmoney.operations(m.stock.symbol),
        "报告日期+主营构成+主营收入",
        "report_period+item+revenue",
        "股票代码=code 收入比例=revenue_ratio_pct*0.01 主营成本=cost 主营利润=profit "
        "毛利率=gross_margin*0.01",
        quick=True,
    ),
    Case(
        "stock_financial_analysis_indicator_em",
        {"symbol": "$dotted", "indicator": "按报告期"},
        lambda m: m.eastmoney.main_indicators(m.stock.symbol),
        "REPORT_DATE",
        "report_period",
        "SECUCODE=code SECURITY_CODE=code NOTICE_DATE=ann_date EPSJB=eps EPSXS=eps "
        "BPS=bvps MGJYXJJE=ocfps~4 TOTALOPERATEREVE=revenue PARENTNETPROFIT=net_profit "
        "KCFJCXSYJLR=deducted_net_profit TOTALOPERATEREVETZ=revenue_yoy~4 "
        "PARENTNETPROFITTZ=net_profit_yoy~4 KCFJCXSYJLRTZ=net_profit_yoy~4 ROEJQ=roe~4 "
        "ZZCJLL=roa~4 XSJLL=net_margin~4 XSMLL=gross_margin~4 ZCFZL=debt_ratio~4",
        quick=True,
    ),
    Case(
        "stock_balance_sheet_by_report_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "TOTAL_ASSETS=total_assets TOTAL_LIABILITIES=total_liabilities "
        "TOTAL_EQUITY=parent_equity TOTAL_PARENT_EQUITY=parent_equity "
        "MONETARYFUNDS=cash ACCOUNTS_RECE=accounts_receivable INVENTORY=inventory "
        "TOTAL_CURRENT_ASSETS=total_current_assets "
        "TOTAL_CURRENT_LIAB=total_current_liab FIXED_ASSET=fixed_assets "
        "GOODWILL=goodwill CONTRACT_LIAB=contract_liabilities SHORT_LOAN=short_debt "
        "LONG_LOAN=long_debt",
    ),
    Case(
        "stock_profit_sheet_by_report_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "TOTAL_OPERATE_INCOME=operate_income OPERATE_INCOME=operate_income "
        "OPERATE_COST=operating_cost SALE_EXPENSE=sell_expense "
        "MANAGE_EXPENSE=admin_expense RESEARCH_EXPENSE=rd_expense "
        "FINANCE_EXPENSE=finance_expense OPERATE_PROFIT=operating_profit "
        "TOTAL_PROFIT=total_profit NETPROFIT=net_profit PARENT_NETPROFIT=net_profit "
        "DEDUCT_PARENT_NETPROFIT=deducted_net_profit",
    ),
    Case(
        "stock_cash_flow_sheet_by_report_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "NETCASH_OPERATE=operating_cash_flow NETCASH_INVEST=investing_cash_flow "
        "NETCASH_FINANCE=financing_cash_flow CCE_ADD=cash_increase "
        "CONSTRUCT_LONG_ASSET=capex",
    ),
    Case(
        "stock_balance_sheet_by_yearly_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "TOTAL_ASSETS=total_assets TOTAL_LIABILITIES=total_liabilities "
        "TOTAL_EQUITY=parent_equity TOTAL_PARENT_EQUITY=parent_equity "
        "MONETARYFUNDS=cash ACCOUNTS_RECE=accounts_receivable INVENTORY=inventory "
        "TOTAL_CURRENT_ASSETS=total_current_assets "
        "TOTAL_CURRENT_LIAB=total_current_liab FIXED_ASSET=fixed_assets "
        "GOODWILL=goodwill CONTRACT_LIAB=contract_liabilities SHORT_LOAN=short_debt "
        "LONG_LOAN=long_debt",
    ),
    Case(
        "stock_profit_sheet_by_yearly_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "TOTAL_OPERATE_INCOME=operate_income OPERATE_INCOME=operate_income "
        "OPERATE_COST=operating_cost SALE_EXPENSE=sell_expense "
        "MANAGE_EXPENSE=admin_expense RESEARCH_EXPENSE=rd_expense "
        "FINANCE_EXPENSE=finance_expense OPERATE_PROFIT=operating_profit "
        "TOTAL_PROFIT=total_profit NETPROFIT=net_profit PARENT_NETPROFIT=net_profit "
        "DEDUCT_PARENT_NETPROFIT=deducted_net_profit",
    ),
    Case(
        "stock_cash_flow_sheet_by_yearly_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "NETCASH_OPERATE=operating_cash_flow NETCASH_INVEST=investing_cash_flow "
        "NETCASH_FINANCE=financing_cash_flow CCE_ADD=cash_increase "
        "CONSTRUCT_LONG_ASSET=capex",
    ),
    Case(
        "stock_profit_sheet_by_quarterly_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "TOTAL_OPERATE_INCOME=operate_income OPERATE_INCOME=operate_income "
        "OPERATE_COST=operating_cost SALE_EXPENSE=sell_expense "
        "MANAGE_EXPENSE=admin_expense RESEARCH_EXPENSE=rd_expense "
        "FINANCE_EXPENSE=finance_expense OPERATE_PROFIT=operating_profit "
        "TOTAL_PROFIT=total_profit NETPROFIT=net_profit PARENT_NETPROFIT=net_profit "
        "DEDUCT_PARENT_NETPROFIT=deducted_net_profit",
    ),
    Case(
        "stock_cash_flow_sheet_by_quarterly_em",
        {"symbol": "$prefixed"},
        lambda m: wide(m.eastmoney.company_statements(m.stock.symbol), "report_period"),
        "REPORT_DATE",
        "report_period",
        "NETCASH_OPERATE=operating_cash_flow NETCASH_INVEST=investing_cash_flow "
        "NETCASH_FINANCE=financing_cash_flow CCE_ADD=cash_increase "
        "CONSTRUCT_LONG_ASSET=capex",
    ),
    Case(
        "stock_research_report_em",
        {"symbol": "$code"},
        lambda m: m.eastmoney.research("2020-01-01", "2026-08-21", m.stock.code),
        "报告PDF链接",
        "pdf_url",
        "股票代码=code 报告名称=title 东财评级=rating 机构=org "
        "2026-盈利预测-收益=eps_fy1 2026-盈利预测-市盈率=pe_fy1 "
        "2027-盈利预测-收益=eps_fy2 2028-盈利预测-收益=eps_fy3 行业=industry "
        "日期=pub_date",
    ),
    Case(
        "stock_info_global_em",
        {},
        lambda m: m.eastmoney.flashes("2026-08-01 00:00:00", 50),
        "链接",
        "url",
        "标题=title 摘要=content 发布时间=pub_time",
    ),
    Case(
        "stock_info_global_cls",
        {"symbol": "全部"},
        lambda m: m.cls.flashes("2026-08-01 00:00:00", 20),
        "内容",
        "content",
        "",
        quick=True,
    ),
    Case(
        "stock_info_global_sina",
        {},
        lambda m: m.sina.flashes("2026-08-01 00:00:00", 20),
        "内容",
        "content",
        "",
    ),
    Case(
        "macro_china_cpi",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_CPI"),
        "ORDER",
        "",
        "全国-当月=NATIONAL_BASE 全国-同比增长=NATIONAL_SAME "
        "全国-环比增长=NATIONAL_SEQUENTIAL 全国-累计=NATIONAL_ACCUMULATE "
        "城市-同比增长=CITY_SAME 农村-同比增长=RURAL_SAME",
        quick=True,
    ),
    Case(
        "macro_china_ppi",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_PPI"),
        "ORDER",
        "",
        "当月=BASE 当月同比增长=BASE_SAME 累计=BASE_ACCUMULATE",
    ),
    Case(
        "macro_china_pmi",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_PMI"),
        "ORDER",
        "",
        "制造业-指数=MAKE_INDEX 制造业-同比增长=MAKE_SAME 非制造业-指数=NMAKE_INDEX "
        "非制造业-同比增长=NMAKE_SAME",
    ),
    Case(
        "macro_china_money_supply",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_CURRENCY_SUPPLY"),
        "ORDER",
        "",
        "货币和准货币(M2)-数量(亿元)=BASIC_CURRENCY "
        "货币和准货币(M2)-同比增长=BASIC_CURRENCY_SAME "
        "货币和准货币(M2)-环比增长=BASIC_CURRENCY_SEQUENTIAL "
        "货币(M1)-数量(亿元)=CURRENCY 货币(M1)-同比增长=CURRENCY_SAME "
        "货币(M1)-环比增长=CURRENCY_SEQUENTIAL 流通中的现金(M0)-数量(亿元)=FREE_CASH "
        "流通中的现金(M0)-同比增长=FREE_CASH_SAME "
        "流通中的现金(M0)-环比增长=FREE_CASH_SEQUENTIAL",
    ),
    Case(
        "macro_china_gdp",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_GDP"),
        "ORDER",
        "",
        "国内生产总值-绝对值=DOMESTICL_PRODUCT_BASE 国内生产总值-同比增长=SUM_SAME "
        "第一产业-同比增长=FIRST_SAME 第二产业-同比增长=SECOND_SAME "
        "第三产业-同比增长=THIRD_SAME",
        quick=True,
    ),
    Case(
        "macro_china_gyzjz",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_INDUS_GROW").iloc[::-1],
        "ORDER",
        "",
        "同比增长=BASE_SAME 累计增长=BASE_ACCUMULATE",
    ),
    Case(
        "macro_china_consumer_goods_retail",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_TOTAL_RETAIL"),
        "ORDER",
        "",
        "当月=RETAIL_TOTAL 同比增长=RETAIL_TOTAL_SAME 环比增长=RETAIL_TOTAL_SEQUENTIAL",
    ),
    Case(
        "macro_china_gdzctz",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_ASSET_INVEST"),
        "ORDER",
        "",
        "当月=BASE 同比增长=BASE_SAME 环比增长=BASE_SEQUENTIAL 自年初累计=BASE_ACCUMULATE",
    ),
    Case(
        "macro_china_hgjck",
        {},
        lambda m: m.eastmoney.economy("RPT_ECONOMY_CUSTOMS"),
        "ORDER",
        "",
        "当月出口额-金额=EXIT_BASE 当月出口额-同比增长=EXIT_BASE_SAME "
        "当月出口额-环比增长=EXIT_BASE_SEQUENTIAL 当月进口额-金额=IMPORT_BASE "
        "当月进口额-同比增长=IMPORT_BASE_SAME "
        "当月进口额-环比增长=IMPORT_BASE_SEQUENTIAL",
    ),
    Case(
        "macro_china_lpr",
        {},
        lambda m: m.eastmoney.economy("RPTA_WEB_RATE"),
        "TRADE_DATE",
        "date",
        "LPR1Y=LPR1Y LPR5Y=LPR5Y",
    ),
    Case(
        "bond_zh_us_rate",
        {"start_date": "20260701"},
        lambda m: m.eastmoney.economy_older("RPTA_WEB_TREASURYYIELD", "2026-07-01"),
        "日期",
        "date",
        "中国国债收益率2年=EMM00588704 中国国债收益率5年=EMM00166462 中国国债收益率10年=EMM00166466 "
        "中国国债收益率30年=EMM00166469 美国国债收益率2年=EMG00001306 美国国债收益率5年=EMG00001308 "
        "美国国债收益率10年=EMG00001310 美国国债收益率30年=EMG00001312",
        quick=True,
    ),
    Case(
        "bond_china_close_return",
        {"symbol": "国债", "period": "1", "start_date": "20260820", "end_date": "20260820"},
        lambda m: m.chinamoney.registered_curve(DAY, DAY),
        "日期+期限",
        "date+years",
        "到期收益率=rate",
        quick=True,
    ),
    Case(
        "bond_china_yield",
        {"start_date": "20260701", "end_date": "20260821"},
        lambda m: m.chinabond.government_curve("2026-07-01", "2026-08-21").assign(curve=_GOVERNMENT),
        "曲线名称+日期",
        "curve+date",
        "3月=m3 6月=m6 1年=y1 3年=y3 5年=y5 7年=y7 10年=y10 30年=y30",
        some=True,
    ),
    Case(
        "stock_margin_detail_sse",
        {"date": "20260820"},
        lambda m: m.sse.margin(DAY),
        "标的证券代码",
        "code",
        "信用交易日期=date 标的证券简称=name 融资余额=rzye 融资买入额=rzmre "
        "融资偿还额=rzche 融券余量=loan_volume 融券卖出量=rqmcl 融券偿还量=rqchl",
        quick=True,
    ),
    Case(
        "stock_margin_sse",
        {"start_date": "20260820", "end_date": "20260820"},
        lambda m: m.sse.margin(DAY).query("code=='TOTAL_SH'"),
        "信用交易日期",
        "date",
        "融资余额=rzye 融资买入额=rzmre 融券余量=loan_volume 融券余量金额=rqye "
        "融券卖出量=rqmcl 融资融券余额=rzrqye",
        quick=True,
    ),
    Case(
        "stock_margin_detail_szse",
        {"date": "20260820"},
        lambda m: m.szse.margin(DAY),
        "证券代码",
        "code",
        "证券简称=name 融资买入额=rzmre 融资余额=rzye 融券卖出量=rqmcl "
        "融券余量=loan_volume 融券余额=rqye 融资融券余额=rzrqye",
        quick=True,
    ),
    Case(
        "stock_margin_szse",
        {"date": "20260820"},
        lambda m: m.szse.margin(DAY).query("code=='TOTAL_SZ'"),
        "ORDER",
        "",
        "融资买入额=rzmre*1e-08 融资余额=rzye*1e-08 融券余量=loan_volume*1e-08 "
        "融券余额=rqye*1e-08 融资融券余额=rzrqye*1e-08",
    ),
    Case(
        "stock_szse_summary",
        {"date": "20260820"},
        lambda m: m.szse.overview(DAY),
        "证券类别",
        "sec_class",
        "数量=listed_count 成交金额=amount_yi*1e+08~2 "
        "总市值=total_market_cap_yi*1e+08~2 流通市值=float_market_cap_yi*1e+08~2",
        quick=True,
    ),
    Case(
        "stock_sse_deal_daily",
        {"date": "20260820"},
        lambda m: m.sse.overview(DAY),
        "ITEM",
        "",
        "平均市盈率=pe_ratio",
    ),
    Case(
        "fund_etf_scale_sse",
        {"date": "20260820"},
        lambda m: m.sse.etf_units(DAY),
        "基金代码",
        "code",
        "基金简称=name 统计日期=trade_date 基金份额=total_shares",
        quick=True,
    ),
    Case(
        "stock_report_disclosure",
        {"market": "沪深京", "period": "2026半年报"},
        lambda m: m.cninfo.disclosure_schedule("2026-06-30"),
        "股票代码",
        "code",
        "股票简称=name 首次预约=first_date",
    ),
    Case(
        "stock_hold_num_cninfo",
        {"date": "20260331"},
        lambda m: m.cninfo.holder_counts(PERIOD, NOW),
        "证券代码",
        "code",
        "变动日期=date 本期股东人数=holder_num 股东人数增幅=change_ratio 本期人均持股数量=avg_shares",
        quick=True,
    ),
    Case(
        "stock_share_change_cninfo",
        {"symbol": "$code", "start_date": "20000101", "end_date": "20260821"},
        lambda m: m.cninfo.share_changes(m.stock.code, "2000-01-01", "2026-08-21", NOW),
        "变动日期",
        "change_date",
        "证券代码=code 变动原因=reason 总股本=total_shares*0.0001 "
        "已流通股份=float_shares*0.0001 人民币普通股=float_shares*0.0001",
    ),
    Case(
        "stock_industry_pe_ratio_cninfo",
        {"symbol": "证监会行业分类", "date": "20260820"},
        lambda m: m.cninfo.industry_ratios("csrc", DAY, NOW),
        "行业编码",
        "industry_code",
        "变动日期=date 行业层级=level 行业名称=industry_name 公司数量=member_count "
        "总市值-静态=total_market_cap_yi~2 净利润-静态=net_profit_yi "
        "静态市盈率-加权平均=pe_weighted 静态市盈率-中位数=pe_median "
        "静态市盈率-算术平均=pe_mean",
        quick=True,
    ),
    Case(
        "stock_zh_a_spot_tx",
        {},
        lambda m: m.tencent.rank(),
        "code",
        "symbol",
        "hsl=turnover_pct lb=volume_ratio ltsz=float_market_cap*0.0001 name=name pn=pb "
        "turnover=volume*0.01 volume=amount*0.0001 zd=change_amt zdf=change_pct "
        "zljlr=main_net*0.0001 zsz=total_market_cap*0.0001 zxj=price",
        quick=True,
    ),
    Case(
        "stock_zh_index_daily_tx",
        {"symbol": "sh000001", "start_date": "20260101", "end_date": "20260821"},
        lambda m: m.tencent.daily_bars("sh000001", "2026-01-01", "2026-08-21"),
        "date",
        "date",
        "open=open close=close high=high low=low amount=volume*0.01",
    ),
    Case(
        "stock_zh_a_tick_tx_js",
        {"symbol": "$symbol"},
        lambda m: m.tencent.ticks(m.stock.symbol),
        "ORDER",
        "",
        "成交时间=time 成交价格=price 价格变动=change_amt 成交量=volume*0.01 成交金额=amount",
    ),
    Case(
        "stock_financial_report_sina",
        {"stock": "$symbol", "symbol": "资产负债表"},
        lambda m: wide(m.sina.statement(m.stock.symbol, "balance"), "report_period"),
        "报告日",
        "report_period",
        "资产总计=total_assets 负债合计=total_liabilities",
        some=True,
    ),
    Case(
        "stock_hot_follow_xq",
        {},
        lambda m: m.xueqiu.followed(),
        "股票代码",
        "code",
        "股票简称=name 关注=heat 最新价=price",
        quick=True,
    ),
    Case(
        "stock_individual_spot_xq",
        {"symbol": "$prefixed", "token": "sample-visitor"},
        lambda m: m.xueqiu.quote(m.stock.symbol),
        "ITEM",
        "",
        "代码=symbol 交易所=market 名称=name 现价=price 涨幅=change_pct 今开=open "
        "昨收=last_close 最高=high 最低=low 成交量=volume 成交额=amount "
        "周转率=turnover_pct 振幅=amplitude_pct "
        "资产净值/总市值=total_market_cap*10000~2 流通值=float_market_cap*10000~2 "
        "基金份额/总股本=total_shares 流通股=float_shares 涨停=limit_up 跌停=limit_down "
        "市盈率(TTM)=pe_ttm 市盈率(动)=pe_dynamic 市盈率(静)=pe_static 市净率=pb",
        quick=True,
    ),
    Case(
        "index_hist_sw",
        {"symbol": "801030", "period": "day"},
        lambda m: m.sw.trend("801030"),
        "日期",
        "date",
        "代码=code 收盘=close 开盘=open 最高=high 最低=low 成交量=volume_yi~6 成交额=amount_yi~2",
    ),
    Case(
        "index_realtime_sw",
        {"symbol": "二级行业"},
        lambda m: m.sw.current("l2"),
        "指数代码",
        "code",
        "指数名称=name 昨收盘=last_close 今开盘=open 最新价=close 成交额=amount~2 "
        "成交量=volume~6 最高价=high 最低价=low",
        quick=True,
    ),
    Case(
        "index_analysis_daily_sw",
        {"symbol": "一级行业", "start_date": "20260801", "end_date": "20260821"},
        lambda m: m.sw.report("l1", "2026-08-01", "2026-08-21"),
        "指数代码+发布日期",
        "code+date",
        "指数名称=name 收盘指数=close 成交量=volume_yi~6 涨跌幅=change_pct "
        "换手率=turnover_pct~2 市盈率=pe 市净率=pb 成交额占比=amount_share_pct "
        "流通市值=float_market_cap_yi 股息率=dividend_yield",
    ),
    Case(
        "index_stock_cons_csindex",
        {"symbol": "000300"},
        lambda m: m.csindex.members("000300"),
        "成分券代码",
        "code",
        "日期=as_of_date 指数名称=index_name 成分券名称=name",
    ),
    Case(
        "index_stock_cons_weight_csindex",
        {"symbol": "000300"},
        lambda m: m.csindex.weights("000300"),
        "成分券代码",
        "code",
        "日期=as_of_date 指数名称=index_name 成分券名称=name 权重=weight_pct",
        quick=True,
    ),
    Case(
        "stock_zh_index_value_csindex",
        {"symbol": "000300"},
        lambda m: m.csindex.ratios("000300"),
        "日期",
        "date",
        "市盈率1=pe 市盈率2=pe 股息率1=dividend_yield 股息率2=dividend_yield",
    ),
    Case(
        "stock_zh_index_hist_csindex",
        {"symbol": "000300", "start_date": "20260701", "end_date": "20260821"},
        lambda m: m.csindex.history("000300", "2026-07-01", "2026-08-21"),
        "日期",
        "date",
        "指数中文简称=index_name 开盘=open 最高=high 最低=low 收盘=close "
        "涨跌幅=change_pct 成交金额=amount*1e-08 样本数量=member_count "
        "滚动市盈率=pe_ttm",
        quick=True,
    ),
    Case(
        "stock_profit_forecast_ths",
        {"symbol": "$code", "indicator": "预测年报每股收益"},
        lambda m: m.ths.eps_consensus(m.stock.code),
        "年度",
        "forecast_year",
        "预测机构数=org_count 最小值=eps_min 均值=eps_mean 最大值=eps_max 行业平均数=industry_mean",
        quick=True,
    ),
    Case(
        "get_shfe_daily",
        {"date": "20260820"},
        lambda m: upper(m.shfe.daily(DAY)),
        "symbol",
        "symbol",
        "date=date open=open high=high low=low close=close volume=volume_contracts "
        "open_interest=open_interest turnover=amount_wan settle=settle pre_settle=prev_settle",
        quick=True,
    ),
    Case(
        "get_ine_daily",
        {"date": "20260820"},
        lambda m: upper(m.ine.daily(DAY)),
        "symbol",
        "symbol",
        "date=date open=open high=high low=low close=close volume=volume_contracts "
        "open_interest=open_interest turnover=amount_wan settle=settle pre_settle=prev_settle",
    ),
    Case(
        "get_czce_daily",
        {"date": "20260820"},
        lambda m: m.czce.daily(DAY),
        "open+high+low+volume",
        "open+high+low+volume_contracts",
        "date=date close=close open_interest=open_interest turnover=amount_wan "
        "settle=settle pre_settle=prev_settle variety=product",
        some=True,
        quick=True,
    ),
)
