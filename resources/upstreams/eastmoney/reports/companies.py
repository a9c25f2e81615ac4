"""What companies announce, reports of the data centre: dividends (RPT_SHAREBONUS_DET), visits of institutions
(RPT_ORG_SURVEYNEW), when a periodic report is disclosed (RPT_PUBLIC_BS_APPOIN) and new shares as they are
offered (RPTA_APP_IPOAPPLY)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import (
    Dated,
    equals,
)
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number
from resources.upstreams.parsing.rows import (
    Table,
    code_of,
    day_of,
    day_or_none,
    may,
    must,
    security_code,
    text_or_none,
    unread,
)
from resources.upstreams.parsing.texts import plain_text

NOTICE = "NOTICE_DATE"

# -- dividends by security and report period. One row goes from the plan over the meeting to the
# implementation: NOTICE_DATE moves with it, and PLAN_NOTICE_DATE stays.

NOTHING = "不分配"
PROGRESS = {
    "董事会预案": "预案",
    "预披露": "预案",
    "股东大会决议": "股东大会通过",
    "股东大会预案": "股东大会通过",
    "实施分配": "实施方案",
    "实施方案": "实施方案",
    "实施完毕": "已实施",
    "不分配不转增": NOTHING,
    "不分配": NOTHING,
}
"""The portal's terms -> the dictionary's; others stay as they are."""


def _progress(value: Any, what: str) -> str | None:
    progress = text_or_none(value, what)
    return None if progress is None else PROGRESS.get(progress, progress)


def amount_per_10(value: Any, what: str) -> float:
    """CNY or shares per 10 shares, at most 6 decimals; missing is none of it."""
    result = number(value, what, digits=6)
    if result < 0:
        raise PayloadError(f"{what} is below zero: {value!r}")
    return result


def _percent_of_fraction(value: Any, what: str) -> float:
    share = number(value, what, digits=12)
    if abs(share) > 1:
        raise PayloadError(f"{what} {share} is no fraction")
    return round(share * 100, 4)


def _check_dividend(row: dict[str, Any], what: str) -> None:
    """BONUS_IT_RATIO is the sum of the two: it fails when a column is shifted."""
    stated, earned = row["_sum"], row["_earned"]
    meant = sum(part for part in (row["bonus_ratio"], row["transfer_ratio"]) if not math.isnan(part))
    if abs(stated - meant) > 1e-4:
        raise PayloadError(f"{what}: BONUS_IT_RATIO {stated} is not BONUS_RATIO + IT_RATIO = {meant}")
    # Of a loss, or of nothing, there is no share.
    row["payout_ratio"] = round(row["bonus_rmb"] / 10 / earned * 100, 4) if earned > 0 else math.nan


_DIVIDENDS = Table(
    "dividend",
    must(security_code, SECURITY_CODE="code"),
    may(text_or_none, SECURITY_NAME_ABBR="name", IMPL_PLAN_PROFILE="plan_text"),
    must(day_of, REPORT_DATE="report_period"),
    must(day_or_none, PLAN_NOTICE_DATE="ann_date", **{NOTICE: "notice_date"}, EX_DIVIDEND_DATE="ex_date"),
    may(day_or_none, EQUITY_RECORD_DATE="record_date"),
    must(amount_per_10, PRETAX_BONUS_RMB="bonus_rmb", BONUS_RATIO="bonus_ratio", IT_RATIO="transfer_ratio"),
    may(_percent_of_fraction, DIVIDENT_RATIO="dividend_yield"),
    may(number, BONUS_IT_RATIO="_sum", BASIC_EPS="_earned"),
    may(amount, TOTAL_SHARES="_shares"),
    must(_progress, ASSIGN_PROGRESS="progress"),
    check=_check_dividend,
    more=numbers("payout_ratio") | texts("payload"),
)
DIVIDEND_COLUMNS = _DIVIDENDS.columns
"""CNY and shares per 10 shares, percent; `payload` is the record as received."""


def dividend_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `DIVIDEND_COLUMNS`. PayloadError when a row contradicts itself."""
    made = [_DIVIDENDS.read(row) | {"payload": canonical_json(dict(row))} for row in rows]
    return frame(made, DIVIDEND_COLUMNS)


dividend_report = Dated(
    "RPT_SHAREBONUS_DET",
    dividend_rows,
    f"{NOTICE} notice_date",
    "SECURITY_CODE REPORT_DATE PLAN_NOTICE_DATE",
    "code report_period ann_date",
)
"""By the day of the newest notice."""
ex_dividend_report = Dated(
    "RPT_SHAREBONUS_DET",
    dividend_rows,
    "EX_DIVIDEND_DATE ex_date",
    "SECURITY_CODE REPORT_DATE PLAN_NOTICE_DATE",
    "code report_period ann_date",
)
"""By the ex-date: what is carried out."""

# -- visits: one row for each visitor. What was said is the same text in every row of a visit, so it is
# requested for the first one alone.

_SURVEYS = "RPT_ORG_SURVEYNEW"
_SOURCED = equals("IS_SOURCE", "1")
_FIRST = equals("NUMBERNEW", "1")
_VISIT = (
    *must(security_code, SECURITY_CODE="code"),
    *must(day_or_none, **{NOTICE: "ann_date"}),
    *must(day_of, RECEIVE_START_DATE="survey_date"),
)
VISITORS = Table(
    "survey",
    _VISIT,
    may(unread, NUMBERNEW="_number"),
    must(text_or_none, RECEIVE_OBJECT="org_name"),
    may(text_or_none, ORG_TYPE="org_type", RECEIVE_WAY_EXPLAIN="method", RECEIVE_PLACE="place"),
    may(text_or_none, INVESTIGATORS="persons", RECEPTIONIST="receiver"),
)
VISIT_TEXTS = Table("survey", _VISIT, may(text_or_none, CONTENT="content"))


visitors_report = Dated(
    _SURVEYS, VISITORS, NOTICE, "SECURITY_CODE RECEIVE_START_DATE NUMBERNEW", by_name=True, where=(_SOURCED,)
)
"""Every visitor, by the day of the announcement."""
texts_report = Dated(
    _SURVEYS, VISIT_TEXTS, NOTICE, f"SECURITY_CODE RECEIVE_START_DATE {NOTICE}", where=(_SOURCED, _FIRST)
)
"""What was said in those visits, one row each."""

# -- disclosure dates. One that is null says something: no change, not published.


def _name(value: Any, what: str) -> str | None:
    return plain_text(value or "", what, 64) or None


SCHEDULE = Table(
    "schedule",
    may(_name, SECURITY_NAME_ABBR="name"),
    must(code_of, SECURITY_CODE="code"),
    must(day_or_none, REPORT_DATE="report_period", FIRST_APPOINT_DATE="first_date"),
    must(day_or_none, FIRST_CHANGE_DATE="change1_date", SECOND_CHANGE_DATE="change2_date"),
    must(day_or_none, THIRD_CHANGE_DATE="change3_date", ACTUAL_PUBLISH_DATE="actual_date"),
)


schedule_report = Dated(
    "RPT_PUBLIC_BS_APPOIN", SCHEDULE, "REPORT_DATE", "SECURITY_CODE", "code report_period", by_name=True
)

# -- new shares


def _above_zero(value: Any, what: str) -> float:
    return amount(value, what) or math.nan


OFFERS = Table(
    "offers",
    must(security_code, SECURITY_CODE="code"),
    must(day_or_none, APPLY_DATE="apply_date"),
    must(_above_zero, ISSUE_PRICE="issue_price"),
    must(day_or_none, LISTING_DATE="list_date"),
    of="offer",
)
"""CNY; the price is missing until it is set."""


offers_report = Dated(
    "RPTA_APP_IPOAPPLY", OFFERS, "APPLY_DATE", "APPLY_DATE SECURITY_CODE", "code", by_name=True
)
