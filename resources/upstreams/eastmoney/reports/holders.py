"""Holder counts by security and count date, a report of the data centre (RPT_HOLDERNUM_DET)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, notice_clauses, security_code
from resources.upstreams.eastmoney.reports.gateway import Report
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, promised, required, string_of

HOLDER_COLUMNS: dict[str, str] = {
    **texts("code date ann_date"),
    **numbers(
        "holder_num change_num change_ratio avg_shares avg_market_cap total_shares interval_change_pct"
    ),
}
NOTICE = "HOLD_NOTICE_DATE"
_FIELDS = ("SECURITY_CODE", "END_DATE", NOTICE, "HOLDER_NUM", "PRE_HOLDER_NUM", "HOLDER_NUM_CHANGE",
           "HOLDER_NUM_RATIO", "AVG_HOLD_NUM", "AVG_MARKET_CAP", "TOTAL_A_SHARES",
           "INTERVAL_CHRATE")  # fmt: skip
_RATIO_SLACK = 0.01
_UNIT_SLACK = 20
"""A company with B or H shares has more holders than its A shares alone; a wrong unit is a factor of 100."""


def holder_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Counts whose notice came out in [since, until] (None: ever), of all securities or of some."""
    where = notice_clauses(NOTICE, since, until, codes)
    return Report("RPT_HOLDERNUM_DET", _FIELDS, where, ("SECURITY_CODE", "END_DATE"), ("code", "date"))


def holder_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `HOLDER_COLUMNS`: holders, A shares, CNY, percent. PayloadError when a row contradicts
    itself."""
    return frame([_row(row) for row in rows], HOLDER_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "END_DATE", NOTICE, "HOLDER_NUM"), "holders")
    code = security_code(row["SECURITY_CODE"], "holders")
    what = f"holders {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": iso_day(string_of(row["END_DATE"], f"{what} END_DATE")[:10], f"{what} END_DATE"),
        "ann_date": day_or_none(row[NOTICE], f"{what} {NOTICE}"),
        "holder_num": required(amount(row["HOLDER_NUM"], f"{what} HOLDER_NUM"), f"{what} HOLDER_NUM"),
        "change_num": number(row.get("HOLDER_NUM_CHANGE"), f"{what} HOLDER_NUM_CHANGE"),
        "change_ratio": number(row.get("HOLDER_NUM_RATIO"), f"{what} HOLDER_NUM_RATIO"),
        "avg_shares": amount(row.get("AVG_HOLD_NUM"), f"{what} AVG_HOLD_NUM"),
        "avg_market_cap": amount(row.get("AVG_MARKET_CAP"), f"{what} AVG_MARKET_CAP"),
        "total_shares": amount(row.get("TOTAL_A_SHARES"), f"{what} TOTAL_A_SHARES"),
        "interval_change_pct": number(row.get("INTERVAL_CHRATE"), f"{what} INTERVAL_CHRATE"),
    }
    _check(made, amount(row.get("PRE_HOLDER_NUM"), f"{what} PRE_HOLDER_NUM"), what)
    return made


def _check(row: Mapping[str, Any], before: float, what: str) -> None:
    """The identities of the report: they fail when a column is shifted or in another unit."""
    holders, change, ratio = row["holder_num"], row["change_num"], row["change_ratio"]
    if abs(holders - before - change) > 0.5:
        raise PayloadError(f"{what}: HOLDER_NUM - PRE_HOLDER_NUM is not HOLDER_NUM_CHANGE {change:.0f}")
    if before > 0 and not math.isnan(change) and not math.isnan(ratio):
        meant = change / before * 100
        if abs(ratio - meant) > _RATIO_SLACK + 0.01 * abs(meant):
            raise PayloadError(f"{what}: HOLDER_NUM_RATIO {ratio} is not the change of {meant:.4f} percent")
    if holders > 0 and row["avg_shares"] > 0 and row["total_shares"] > 0:
        factor = row["avg_shares"] / (row["total_shares"] / holders)
        if not 1 / _UNIT_SLACK <= factor <= _UNIT_SLACK:
            raise PayloadError(
                f"{what}: AVG_HOLD_NUM is {factor:.4g} x TOTAL_A_SHARES / HOLDER_NUM: wrong unit"
            )
