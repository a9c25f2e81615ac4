"""`columns=ALL` of the data centre: how many columns a report has, and in which order.

Public clients name the columns of these reports by their place, so the places of what they read are known,
and how many there are; the names of the others are not. A column that a row has and no client reads by its
place stands in a place that nobody names.
"""

from collections.abc import Mapping
from typing import Any

# Of each report the columns by their place; `_3` are three places that nobody names.
_LAYOUTS = {
    "RPT_LICO_FN_CPD": (
        "SECURITY_CODE SECURITY_NAME_ABBR TRADE_MARKET_CODE _1 SECURITY_TYPE_CODE SECURITY_TYPE "
        "UPDATE_DATE REPORTDATE BASIC_EPS DEDUCT_BASIC_EPS TOTAL_OPERATE_INCOME PARENT_NETPROFIT "
        "WEIGHTAVG_ROE YSTZ SJLTZ BPS MGJYXJJE XSMLL YSHZ SJLHZ _2 PUBLISHNAME _14"
    ),
    "RPT_DMSK_FN_INCOME": (
        "SECUCODE SECURITY_CODE _2 SECURITY_NAME_ABBR _2 SECURITY_TYPE_CODE TRADE_MARKET_CODE _3 "
        "NOTICE_DATE REPORT_DATE PARENT_NETPROFIT TOTAL_OPERATE_INCOME TOTAL_OPERATE_COST _1 "
        "OPERATE_COST _2 SALE_EXPENSE MANAGE_EXPENSE FINANCE_EXPENSE OPERATE_PROFIT TOTAL_PROFIT _15 "
        "TOI_RATIO _1 PARENT_NETPROFIT_RATIO _2"
    ),
    "RPT_DMSK_FN_CASHFLOW": (
        "SECUCODE SECURITY_CODE _2 SECURITY_NAME_ABBR _2 SECURITY_TYPE_CODE TRADE_MARKET_CODE _3 "
        "NOTICE_DATE REPORT_DATE NETCASH_OPERATE _5 NETCASH_INVEST _5 NETCASH_FINANCE _1 CCE_ADD "
        "CCE_ADD_RATIO _18"
    ),
    "RPT_DMSK_FN_BALANCE": (
        "SECUCODE SECURITY_CODE _2 SECURITY_NAME_ABBR _2 SECURITY_TYPE_CODE TRADE_MARKET_CODE _3 "
        "NOTICE_DATE REPORT_DATE TOTAL_ASSETS _1 MONETARYFUNDS _1 ACCOUNTS_RECE _1 INVENTORY _1 "
        "TOTAL_LIABILITIES ACCOUNTS_PAYABLE _1 ADVANCE_RECEIVABLES _1 TOTAL_EQUITY _1 "
        "TOTAL_ASSETS_RATIO TOTAL_LIAB_RATIO _1 DEBT_ASSET_RATIO _24"
    ),
    "RPT_FCI_PERFORMANCEE": (
        "SECURITY_CODE SECURITY_NAME_ABBR _1 TRADE_MARKET_CODE SECURITY_TYPE SECURITY_TYPE_CODE "
        "NOTICE_DATE REPORT_DATE BASIC_EPS TOTAL_OPERATE_INCOME TOTAL_OPERATE_INCOME_SQ "
        "PARENT_NETPROFIT PARENT_NETPROFIT_SQ PARENT_BVPS WEIGHTAVG_ROE YSTZ JLRTBZCL DJDYSHZ DJDJLHZ "
        "PUBLISHNAME _8"
    ),
    "RPT_PUBLIC_OP_NEWPREDICT": (
        "SECUCODE SECURITY_CODE SECURITY_NAME_ABBR _1 NOTICE_DATE REPORT_DATE PREDICT_FINANCE_CODE "
        "PREDICT_FINANCE PREDICT_AMT_LOWER PREDICT_AMT_UPPER ADD_AMP_LOWER ADD_AMP_UPPER "
        "PREDICT_CONTENT CHANGE_REASON_EXPLAIN PREDICT_TYPE PREYEAR_SAME_PERIOD _4 INCREASE_JZ "
        "FORECAST_JZ _5"
    ),
    "RPT_SHAREBONUS_DET": (
        "SECUCODE SECURITY_NAME_ABBR _2 SECURITY_CODE BONUS_IT_RATIO BONUS_RATIO IT_RATIO "
        "PRETAX_BONUS_RMB PLAN_NOTICE_DATE EQUITY_RECORD_DATE EX_DIVIDEND_DATE _1 ASSIGN_PROGRESS _1 "
        "NOTICE_DATE _3 BASIC_EPS BVPS PER_CAPITAL_RESERVE PER_UNASSIGN_PROFIT PNP_YOY_RATIO "
        "TOTAL_SHARES _1 DIVIDENT_RATIO _3"
    ),
    "RPT_DMSK_TS_STOCKNEW": (
        "SECUCODE SECURITY_CODE _1 TRADE_DATE SECURITY_NAME_ABBR _3 CLOSE_PRICE CHANGE_RATE _1 "
        "TURNOVERRATE PRIME_COST PE_DYNAMIC _2 ORG_PARTICIPATE _8 TOTALSCORE RANK_UP RANK FOCUS _2"
    ),
    "RPT_CSDC_LIST": (
        "SECUCODE SECURITY_CODE SECURITY_NAME_ABBR TRADE_DATE PLEDGE_RATIO REPURCHASE_BALANCE "
        "PLEDGE_DEAL_NUM REPURCHASE_UNLIMITED_BALANCE REPURCHASE_LIMITED_BALANCE PLEDGE_MARKET_CAP "
        "INDUSTRY Y1_CLOSE_ADJCHRATE _2"
    ),
    "RPT_ORG_SURVEYNEW": (
        "SECUCODE SECURITY_CODE SECURITY_NAME_ABBR _1 NOTICE_DATE RECEIVE_START_DATE _7 RECEIVE_PLACE "
        "_1 RECEIVE_WAY_EXPLAIN _1 RECEPTIONIST _5 SUM _6"
    ),
    "RPT_BOND_CB_LIST": (
        "SECURITY_CODE SECUCODE _1 SECURITY_NAME_ABBR _1 LISTING_DATE CONVERT_STOCK_CODE _1 RATING _7 "
        "ACTUAL_ISSUE_SCALE _14 CORRECODE _1 PUBLIC_START_DATE _4 SECURITY_SHORT_NAME _9 "
        "CONVERT_STOCK_PRICE TRANSFER_PRICE TRANSFER_VALUE CURRENT_BOND_PRICE TRANSFER_PREMIUM_RATIO "
        "_19"
    ),
}


def _places(text: str) -> tuple[str, ...]:
    """`_3` written out as three places."""
    names: list[str] = []
    for word in text.split():
        names += ["_"] * int(word[1:]) if word.startswith("_") else [word]
    return tuple(names)


LAYOUTS: Mapping[str, tuple[str, ...]] = {name: _places(text) for name, text in _LAYOUTS.items()}


def whole_row(report: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """All columns of a row in the order of the wire."""
    layout = LAYOUTS.get(report)
    if layout is None:
        return dict(row)
    others = iter([name for name in row if name not in layout])
    made: dict[str, Any] = {}
    for place, name in enumerate(layout):
        held = name if name != "_" else next(others, f"COLUMN_{place}")
        made[held] = row.get(held)
    return made


__all__ = ["LAYOUTS", "whole_row"]
