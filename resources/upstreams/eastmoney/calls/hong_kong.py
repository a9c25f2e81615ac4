"""Companies in Hong Kong: results, statements, dividends and profile (RPT_HKF10_*), and the list of those
with A shares (clist b:DLMK0101). Amounts are in the company's reporting currency."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from resources.upstreams.eastmoney.calls.funds import ListCalls
from resources.upstreams.eastmoney.data_centre import Report, among, days_among, equals
from resources.upstreams.eastmoney.gateway import Rows
from resources.upstreams.parsing.frames import numbers, texts
from resources.upstreams.parsing.payload import AMT, number, price, string_of
from resources.upstreams.parsing.rows import (
    Table,
    code_of,
    day_of,
    day_or_none,
    hk_code,
    may,
    must,
    stripped,
    text_or_none,
)

PAIR_LIST = "b:DLMK0101"
PAIR_FIELDS = "f2,f12,f13,f14,f186,f188,f191,f193"
STATEMENTS = {"income": "INCOME", "balance": "BALANCE", "cashflow": "CASHFLOW"}
MOST_PERIODS = 5
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


def _check_debts(row: dict[str, Any], what: str) -> None:
    if row["debt_ratio"] < 0:
        raise PayloadError(f"{what}: DEBT_ASSET_RATIO {row['debt_ratio']} is below zero")


_money = partial(number, digits=AMT)
INDICATORS = Table(
    "HK figures",
    must(hk_code, SECURITY_CODE="code"),
    must(day_of, REPORT_DATE="report_period"),
    may(text_or_none, SECURITY_NAME_ABBR="name"),
    must(text_or_none, CURRENCY="currency"),
    may(_money, OPERATE_INCOME="revenue", HOLDER_PROFIT="net_profit"),
    may(
        number,
        OPERATE_INCOME_YOY="revenue_yoy",
        HOLDER_PROFIT_YOY="net_profit_yoy",
        BASIC_EPS="eps",
        BPS="bvps",
    ),
    may(number, ROE_AVG="roe", GROSS_PROFIT_RATIO="gross_margin", NET_PROFIT_RATIO="net_margin"),
    may(number, DEBT_ASSET_RATIO="debt_ratio"),
    check=_check_debts,
    some=("OPERATE_INCOME", "HOLDER_PROFIT"),
)
"""Reporting currency, percent."""


def items_report(code: str, statement: str, periods: Sequence[str]) -> Report:
    """Items of one statement of one company at some period ends, at most five."""
    where = (equals("SECUCODE", secucode(code)), days_among("REPORT_DATE", periods))
    columns = ("SECURITY_CODE", "REPORT_DATE", "DATE_TYPE_CODE", "STD_ITEM_CODE", "STD_ITEM_NAME", "AMOUNT")
    sort = ("-REPORT_DATE", "STD_ITEM_CODE")
    name = f"RPT_HKF10_FN_{STATEMENTS[statement]}_PC"
    return Report(name, columns, where, sort, ("report_period", "item_code"), f10=True)


ITEMS = Table(
    "HK items",
    must(hk_code, SECURITY_CODE="code"),
    must(day_of, REPORT_DATE="report_period"),
    must(string_of, STD_ITEM_CODE="item_code"),
    must(stripped, STD_ITEM_NAME="item"),
    must(_money, AMOUNT="value"),
)
"""Reporting currency."""


def dividends_report(code: str) -> Report:
    where = (equals("SECUCODE", secucode(code)),)
    return Report("RPT_HKF10_MAIN_DIVBASIC", ("ALL",), where, ("-EX_DIVIDEND_DATE",), (), f10=True)


def _paid(row: dict[str, Any], what: str) -> None:
    found = _CASH.search(row["plan"] or "")
    if found is not None:
        row |= {"currency": _CURRENCIES[found.group(1)], "dividend_ps": price(found.group(2), what)}


DIVIDENDS = Table(
    "HK dividend",
    must(hk_code, SECURITY_CODE="code"),
    may(day_or_none, NOTICE_DATE="ann_date", EX_DIVIDEND_DATE="ex_date"),
    must(text_or_none, PLAN_EXPLAIN="plan"),
    check=_paid,
    more=texts("currency") | numbers("dividend_ps"),
)
"""Cash per share and its currency as the text of the plan says; missing where it says something else."""


def profile_reports(code: str) -> tuple[Report, Report]:
    """The company, and its listing."""
    where = (equals("SECUCODE", secucode(code)),)
    sort = ("SECUCODE",)
    return (
        Report("RPT_HKF10_INFO_ORGPROFILE", ("ALL",), where, sort, ("code",), f10=True),
        Report("RPT_HKF10_INFO_SECURITYINFO", ("ALL",), where, sort, ("code",), f10=True),
    )


PROFILE = Table(
    "HK profile",
    must(hk_code, SECURITY_CODE="code"),
    may(text_or_none, SECURITY_NAME_ABBR="name", ORG_NAME="full_name", BELONG_INDUSTRY="industry"),
    may(day_or_none, LISTING_DATE="listing_date"),
    may(text_or_none, ORG_WEB="website", ORG_PROFILE="intro"),
)
"""Fields that only one of the two reports has are missing where that one has no row."""


def _rate(row: dict[str, Any], what: str) -> None:
    """`fx_rate`: CNY of one HKD, as prices and premium say."""
    h_price, a_price, premium = row["h_price"], row["a_price"], row["premium_pct"]
    if h_price > 0 and a_price > 0 and premium > -100:
        rate = round(a_price / h_price / (1 + premium / 100), 4)
        if not _RATES[0] <= rate <= _RATES[1]:
            raise PayloadError(f"{what}: prices and premium imply {rate} CNY for one HKD: another unit")
        row["fx_rate"] = rate


PAIRS = Table(
    "AH list",
    must(hk_code, f12="h_code"),
    may(text_or_none, f14="h_name", f193="name"),
    may(code_of, f191="a_code"),
    may(price, f2="h_price", f186="a_price"),
    may(number, f188="premium_pct"),
    check=_rate,
    more=numbers("fx_rate"),
    key="h_code",
)
"""CNY, HKD, percent of A over H."""


_CODE = re.compile(r"[0-9]{5}")


class HongKongCalls(ListCalls):
    """Codes have five digits; amounts are in the company's own currency."""

    def ah_pairs(self) -> pd.DataFrame:
        """Companies with A shares and shares in Hong Kong, with both current prices; columns
        `hong_kong.PAIRS`. Two calls."""
        return self.clist(PAIR_LIST, PAIR_FIELDS, PAIRS.frame, key="a_code")

    def hk_indicators(self, code: str) -> pd.DataFrame:
        """Annual and half-yearly figures of a company, newest first; columns `hong_kong.INDICATORS`. One
        call."""
        _must_be_code(code)
        report = indicators_report(code)
        return self.asked(report, INDICATORS.frame, day="report_period", codes=[code])

    def hk_statement(self, code: str, statement: str, periods: Sequence[str]) -> pd.DataFrame:
        """Items of one statement (`income`, `balance` or `cashflow`) at period ends, at most five of them;
        columns `hong_kong.ITEMS`. One call."""
        _must_be_code(code)
        if statement not in STATEMENTS:
            raise InputError("statement", f"{statement!r} is none of {', '.join(STATEMENTS)}")
        if not 1 <= len(periods) <= MOST_PERIODS:
            raise InputError("periods", f"{len(periods)} periods; 1..{MOST_PERIODS} are allowed")
        report = items_report(code, statement, periods)
        rows = self.asked(report, ITEMS.frame, day="report_period", codes=[code])
        strange = sorted(set(rows["report_period"]) - set(periods))
        if strange:
            raise PayloadError(f"{report.name}: rows of {strange[0]}", source=self.source)
        return rows

    def hk_dividends(self, code: str) -> pd.DataFrame:
        """Dividends of a company, newest ex-date first; columns `hong_kong.DIVIDENDS`. One call."""
        _must_be_code(code)
        return self._of(code, dividends_report(code), DIVIDENDS.frame)

    def hk_profile(self, code: str) -> pd.DataFrame:
        """Profile and listing date of a company: at most one row, columns `hong_kong.PROFILE`. Two calls."""
        _must_be_code(code)
        company, listed = (self._of(code, report, PROFILE.frame) for report in profile_reports(code))
        if company.empty or listed.empty:
            return company if listed.empty else listed
        return company.fillna(listed)

    def _of(self, code: str, report: Report, read: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        rows = self.report(report, read)
        if set(rows["code"]) - {code}:
            raise PayloadError(f"{report.name}: rows of another company than {code}", source=self.source)
        return rows


def _must_be_code(code: str) -> None:
    if not _CODE.fullmatch(code):
        raise InputError("code", f"{code[:20]!r} is no code of Hong Kong; five digits are allowed")
