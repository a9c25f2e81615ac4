"""Dividends by security and report period, a report of the data centre (RPT_SHAREBONUS_DET).

One row goes from the plan over the meeting to the implementation: NOTICE_DATE moves with it, and
PLAN_NOTICE_DATE stays.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import (
    day_or_none,
    notice_clauses,
    security_code,
    text_or_none,
)
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, promised, string_of

DIVIDEND_COLUMNS: dict[str, str] = {
    **texts("code name report_period ann_date notice_date ex_date record_date progress plan_text payload"),
    **numbers("bonus_rmb transfer_ratio bonus_ratio dividend_yield payout_ratio"),
}
NOTICE = "NOTICE_DATE"
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
_PROMISED = ("SECURITY_CODE", "REPORT_DATE", "PLAN_NOTICE_DATE", NOTICE, "EX_DIVIDEND_DATE",
             "PRETAX_BONUS_RMB", "BONUS_RATIO", "IT_RATIO", "ASSIGN_PROGRESS")  # fmt: skip


def dividend_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Dividends whose newest notice came out in [since, until] (None: ever), of all securities or some."""
    where = notice_clauses(NOTICE, since, until, codes)
    sort = ("SECURITY_CODE", "REPORT_DATE", "PLAN_NOTICE_DATE")
    return Report("RPT_SHAREBONUS_DET", EVERY_COLUMN, where, sort, ("code", "report_period", "ann_date"))


def dividend_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `DIVIDEND_COLUMNS`: CNY and shares per 10 shares, percent; `payload` is the record as
    received. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], DIVIDEND_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "dividend")
    code = security_code(row["SECURITY_CODE"], "dividend")
    what = f"dividend {code}"
    cash, bonus, transfer = (
        amount_per_10(row[name], f"{what} {name}") for name in ("PRETAX_BONUS_RMB", "BONUS_RATIO", "IT_RATIO")
    )
    _check_sum(bonus, transfer, number(row.get("BONUS_IT_RATIO"), f"{what} BONUS_IT_RATIO"), what)
    share = number(row.get("DIVIDENT_RATIO"), f"{what} DIVIDENT_RATIO", digits=12)
    if abs(share) > 1:
        raise PayloadError(f"{what}: DIVIDENT_RATIO {share} is no fraction")
    amount(row.get("TOTAL_SHARES"), f"{what} TOTAL_SHARES")
    earned = number(row.get("BASIC_EPS"), f"{what} BASIC_EPS")
    progress = text_or_none(row["ASSIGN_PROGRESS"], f"{what} ASSIGN_PROGRESS")
    return {
        "code": code,
        "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} SECURITY_NAME_ABBR"),
        "report_period": iso_day(string_of(row["REPORT_DATE"], f"{what} REPORT_DATE")[:10], what),
        "ann_date": day_or_none(row["PLAN_NOTICE_DATE"], f"{what} PLAN_NOTICE_DATE"),
        "notice_date": day_or_none(row[NOTICE], f"{what} {NOTICE}"),
        "ex_date": day_or_none(row["EX_DIVIDEND_DATE"], f"{what} EX_DIVIDEND_DATE"),
        "record_date": day_or_none(row.get("EQUITY_RECORD_DATE"), f"{what} EQUITY_RECORD_DATE"),
        "progress": None if progress is None else PROGRESS.get(progress, progress),
        "plan_text": text_or_none(row.get("IMPL_PLAN_PROFILE"), f"{what} IMPL_PLAN_PROFILE"),
        "bonus_rmb": cash,
        "transfer_ratio": transfer,
        "bonus_ratio": bonus,
        "dividend_yield": round(share * 100, 4),
        # Of a loss, or of nothing, there is no share.
        "payout_ratio": round(cash / 10 / earned * 100, 4) if earned > 0 else math.nan,
        "payload": canonical_json(dict(row)),
    }


def amount_per_10(value: Any, what: str) -> float:
    """CNY or shares per 10 shares, at most 6 decimals; missing is none of it."""
    result = number(value, what, digits=6)
    if result < 0:
        raise PayloadError(f"{what} is below zero: {value!r}")
    return result


def _check_sum(bonus: float, transfer: float, stated: float, what: str) -> None:
    """BONUS_IT_RATIO is the sum of the two: it fails when a column is shifted."""
    if math.isnan(stated):
        return
    meant = sum(part for part in (bonus, transfer) if not math.isnan(part))
    if abs(stated - meant) > 1e-4:
        raise PayloadError(f"{what}: BONUS_IT_RATIO {stated} is not BONUS_RATIO + IT_RATIO = {meant}")
