"""Goodwill of companies by report period, a report of the data centre (RPT_GOODWILL_STOCKDETAILS).

Its ratio to equity is a fraction. The impairment's share of the profit has no documented unit in any source,
so it is computed from the two amounts.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, text_or_none
from resources.upstreams.eastmoney.reports.gateway import Report, among, code_of, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import AMT, PCT, amount, number, promised, required

GOODWILL_COLUMNS: dict[str, str] = {
    **texts("code report_period name ann_date"),
    **numbers("goodwill goodwill_prev goodwill_equity_ratio_pct impairment impairment_profit_ratio_pct"),
    **numbers("net_profit net_profit_yoy"),
}
_FIELDS = ("SECURITY_CODE", "SECURITY_NAME_ABBR", "REPORT_DATE", "NOTICE_DATE", "GOODWILL", "GOODWILL_PRE",
           "GOODWILL_CHANGE", "SUMSHEQUITY", "SUMSHEQUITY_RATIO", "PARENTNETPROFIT",
           "PNP_YOY_RATIO")  # fmt: skip
_PROMISED = ("SECURITY_CODE", "REPORT_DATE", "GOODWILL")
_SLACK = 0.01


def goodwill_report(period: str) -> Report:
    """All companies that have goodwill in the report of one period."""
    return _report((on_day("REPORT_DATE", period),))


def goodwill_of_report(codes: Sequence[str]) -> Report:
    """All periods of some companies."""
    return _report((among("SECURITY_CODE", codes),))


def _report(where: tuple[str, ...]) -> Report:
    sort = ("SECURITY_CODE", "REPORT_DATE")
    return Report("RPT_GOODWILL_STOCKDETAILS", _FIELDS, where, sort, key=("code", "report_period"))


def goodwill_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `GOODWILL_COLUMNS`: CNY and percent. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], GOODWILL_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "goodwill")
    code = code_of(row["SECURITY_CODE"], "goodwill")
    what = f"goodwill {code}"
    goodwill = required(amount(row["GOODWILL"], f"{what} GOODWILL"), f"{what} GOODWILL")
    equity = number(row.get("SUMSHEQUITY"), f"{what} SUMSHEQUITY", digits=AMT)
    ratio = number(row.get("SUMSHEQUITY_RATIO"), f"{what} SUMSHEQUITY_RATIO", scale=100.0)
    profit = number(row.get("PARENTNETPROFIT"), f"{what} PARENTNETPROFIT", digits=AMT)
    lost = number(row.get("GOODWILL_CHANGE"), f"{what} GOODWILL_CHANGE", digits=AMT)
    if equity and not math.isnan(equity) and not math.isnan(ratio):
        meant = goodwill / equity * 100
        if abs(ratio - meant) > _SLACK + 0.01 * abs(meant):
            raise PayloadError(
                f"{what}: SUMSHEQUITY_RATIO is not GOODWILL / SUMSHEQUITY = {meant:.4f} percent"
            )
    return {
        "code": code,
        "report_period": day_of(row["REPORT_DATE"], f"{what} REPORT_DATE"),
        "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} name"),
        "ann_date": day_or_none(row.get("NOTICE_DATE"), f"{what} NOTICE_DATE"),
        "goodwill": goodwill,
        "goodwill_prev": amount(row.get("GOODWILL_PRE"), f"{what} GOODWILL_PRE"),
        "goodwill_equity_ratio_pct": ratio,
        "impairment": lost,
        "impairment_profit_ratio_pct": round(lost / profit * 100, PCT) if profit else math.nan,
        "net_profit": profit,
        "net_profit_yoy": number(row.get("PNP_YOY_RATIO"), f"{what} PNP_YOY_RATIO"),
    }
