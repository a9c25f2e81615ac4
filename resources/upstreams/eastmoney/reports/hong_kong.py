"""Companies in Hong Kong: results, statements, dividends and profile (RPT_HKF10_*), and the list of those
with A shares (clist b:DLMK0101). Amounts are in the company's reporting currency."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, text_or_none
from resources.upstreams.eastmoney.reports.gateway import Report, among, code_of, day_of, equals
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import AMT, number, price, promised, some_of, string_of

PAIRS = "b:DLMK0101"
PAIR_FIELDS = "f2,f12,f13,f14,f186,f188,f191,f193"
STATEMENTS = {"income": "INCOME", "balance": "BALANCE", "cashflow": "CASHFLOW"}
MOST_PERIODS = 5
PAIR_COLUMNS: dict[str, str] = {
    **texts("h_code h_name a_code name"),
    **numbers("h_price a_price premium_pct fx_rate"),
}
INDICATOR_COLUMNS: dict[str, str] = {
    **texts("code report_period name currency"),
    **numbers("revenue revenue_yoy net_profit net_profit_yoy eps bvps roe gross_margin net_margin"),
    **numbers("debt_ratio"),
}
ITEM_COLUMNS: dict[str, str] = {**texts("code report_period item_code item"), **numbers("value")}
DIVIDEND_COLUMNS: dict[str, str] = {**texts("code ann_date ex_date currency plan"), **numbers("dividend_ps")}
PROFILE_COLUMNS: dict[str, str] = texts("code name full_name industry listing_date website intro")
_HALF_YEARLY = ("001", "002")
_CASH = re.compile(
    r"每股派(?:发)?(?:末期|中期|特别)?(?:股息|现金)?(港币|港元|人民币|美元)\s*([0-9]+(?:\.[0-9]+)?)"
)
_CURRENCIES = {"港币": "HKD", "港元": "HKD", "人民币": "CNY", "美元": "USD"}
_RATES = (0.3, 3.0)
"""CNY of one HKD: prices in another unit leave these bounds."""


def secucode(code: str) -> str:
    return f"{code}.HK"


def indicators_report(code: str) -> Report:
    """Annual and half-yearly figures of one company."""
    where = (equals("SECUCODE", secucode(code)), among("DATE_TYPE_CODE", _HALF_YEARLY))
    names = ("HKF10_FN_MAININDICATOR",)
    return Report("RPT_HKF10_FN_MAININDICATOR", names, where, ("-REPORT_DATE",), ("report_period",), f10=True)


def indicator_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `INDICATOR_COLUMNS`: reporting currency, percent."""
    return frame([_indicator(row) for row in rows], INDICATOR_COLUMNS)


def _indicator(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "REPORT_DATE", "CURRENCY"), "HK figures")
    some_of(row, ("OPERATE_INCOME", "HOLDER_PROFIT"), "HK figures")
    code = hk_code(row["SECURITY_CODE"], "HK figures")
    what = f"HK figures {code}"

    def value(name: str, digits: int = 4) -> float:
        return number(row.get(name), f"{what} {name}", digits=digits)

    debts = value("DEBT_ASSET_RATIO")
    if debts < 0:
        raise PayloadError(f"{what}: DEBT_ASSET_RATIO {debts} is below zero")
    return {
        "code": code,
        "report_period": day_of(row["REPORT_DATE"], f"{what} REPORT_DATE"),
        "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} name"),
        "currency": text_or_none(row["CURRENCY"], f"{what} CURRENCY"),
        "revenue": value("OPERATE_INCOME", AMT),
        "revenue_yoy": value("OPERATE_INCOME_YOY"),
        "net_profit": value("HOLDER_PROFIT", AMT),
        "net_profit_yoy": value("HOLDER_PROFIT_YOY"),
        "eps": value("BASIC_EPS"),
        "bvps": value("BPS"),
        "roe": value("ROE_AVG"),
        "gross_margin": value("GROSS_PROFIT_RATIO"),
        "net_margin": value("NET_PROFIT_RATIO"),
        "debt_ratio": debts,
    }


def items_report(code: str, statement: str, periods: Sequence[str]) -> Report:
    """Items of one statement of one company at some period ends, at most five."""
    quoted = ",".join(f"'{period}'" for period in periods)
    where = (equals("SECUCODE", secucode(code)), f"(REPORT_DATE in ({quoted}))")
    columns = ("SECURITY_CODE", "REPORT_DATE", "DATE_TYPE_CODE", "STD_ITEM_CODE", "STD_ITEM_NAME", "AMOUNT")
    sort = ("-REPORT_DATE", "STD_ITEM_CODE")
    name = f"RPT_HKF10_FN_{STATEMENTS[statement]}_PC"
    return Report(name, columns, where, sort, ("report_period", "item_code"), f10=True)


def item_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `ITEM_COLUMNS`: reporting currency."""
    made = []
    for row in rows:
        promised(
            row, ("SECURITY_CODE", "REPORT_DATE", "STD_ITEM_CODE", "STD_ITEM_NAME", "AMOUNT"), "HK items"
        )
        code = hk_code(row["SECURITY_CODE"], "HK items")
        made.append(
            {
                "code": code,
                "report_period": day_of(row["REPORT_DATE"], f"HK items {code} REPORT_DATE"),
                "item_code": string_of(row["STD_ITEM_CODE"], f"HK items {code} STD_ITEM_CODE"),
                "item": string_of(row["STD_ITEM_NAME"], f"HK items {code} STD_ITEM_NAME").strip(),
                "value": number(row["AMOUNT"], f"HK items {code} AMOUNT", digits=AMT),
            }
        )
    return frame(made, ITEM_COLUMNS)


def dividends_report(code: str) -> Report:
    where = (equals("SECUCODE", secucode(code)),)
    return Report("RPT_HKF10_MAIN_DIVBASIC", ("ALL",), where, ("-EX_DIVIDEND_DATE",), (), f10=True)


def dividend_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `DIVIDEND_COLUMNS`: cash per share and its currency as the text of the plan says; missing where
    the text says something else."""
    made = []
    for row in rows:
        promised(row, ("SECURITY_CODE", "PLAN_EXPLAIN"), "HK dividend")
        code = hk_code(row["SECURITY_CODE"], "HK dividend")
        plan = text_or_none(row["PLAN_EXPLAIN"], f"HK dividend {code} PLAN_EXPLAIN")
        found = _CASH.search(plan or "")
        made.append(
            {
                "code": code,
                "ann_date": day_or_none(row.get("NOTICE_DATE"), f"HK dividend {code} NOTICE_DATE"),
                "ex_date": day_or_none(row.get("EX_DIVIDEND_DATE"), f"HK dividend {code} EX_DIVIDEND_DATE"),
                "currency": None if found is None else _CURRENCIES[found.group(1)],
                "plan": plan,
                "dividend_ps": math.nan if found is None else price(found.group(2), f"HK dividend {code}"),
            }
        )
    return frame(made, DIVIDEND_COLUMNS)


def profile_reports(code: str) -> tuple[Report, Report]:
    """The company, and its listing."""
    where = (equals("SECUCODE", secucode(code)),)
    sort = ("SECUCODE",)
    return (
        Report("RPT_HKF10_INFO_ORGPROFILE", ("ALL",), where, sort, ("code",), f10=True),
        Report("RPT_HKF10_INFO_SECURITYINFO", ("ALL",), where, sort, ("code",), f10=True),
    )


def profile_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `PROFILE_COLUMNS`; fields that only one of the two reports has are missing where that one has
    no row."""
    made = []
    for row in rows:
        promised(row, ("SECURITY_CODE",), "HK profile")
        code = hk_code(row["SECURITY_CODE"], "HK profile")
        what = f"HK profile {code}"
        made.append(
            {
                "code": code,
                "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} name"),
                "full_name": text_or_none(row.get("ORG_NAME"), f"{what} ORG_NAME"),
                "industry": text_or_none(row.get("BELONG_INDUSTRY"), f"{what} BELONG_INDUSTRY"),
                "listing_date": day_or_none(row.get("LISTING_DATE"), f"{what} LISTING_DATE"),
                "website": text_or_none(row.get("ORG_WEB"), f"{what} ORG_WEB"),
                "intro": text_or_none(row.get("ORG_PROFILE"), f"{what} ORG_PROFILE"),
            }
        )
    return frame(made, PROFILE_COLUMNS)


def pair_rows(raws: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `PAIR_COLUMNS`: CNY, HKD, percent of A over H; `fx_rate` CNY of one HKD, as the three say."""
    return frame([_pair(raw) for raw in raws], PAIR_COLUMNS)


def _pair(raw: Mapping[str, Any]) -> dict[str, Any]:
    h_code = hk_code(raw.get("f12"), "AH list")
    what = f"AH list {h_code}"
    home = code_of(raw.get("f191"), what)
    h_price, a_price = price(raw.get("f2"), f"{what} f2"), price(raw.get("f186"), f"{what} f186")
    premium = number(raw.get("f188"), f"{what} f188")
    rate = math.nan
    if h_price > 0 and a_price > 0 and premium > -100:
        rate = round(a_price / h_price / (1 + premium / 100), 4)
        if not _RATES[0] <= rate <= _RATES[1]:
            raise PayloadError(f"{what}: prices and premium imply {rate} CNY for one HKD: another unit")
    return {
        "h_code": h_code,
        "h_name": text_or_none(raw.get("f14"), f"{what} f14"),
        "a_code": home,
        "name": text_or_none(raw.get("f193"), f"{what} f193"),
        "h_price": h_price,
        "a_price": a_price,
        "premium_pct": premium,
        "fx_rate": rate,
    }


def hk_code(value: Any, what: str) -> str:
    """Five digits."""
    code = string_of(value, f"{what} code")
    if len(code) != 5 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what} code {code[:20]!r}")
    return code
