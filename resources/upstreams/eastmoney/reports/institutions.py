"""Shares held by institutions, by security, report period and kind of institution, a report of the data
centre (RPT_MAIN_ORGHOLD)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import security_code
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, among, equals, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, promised, string_of

ORG_TYPES = {"01": "fund", "02": "qfii", "03": "social", "04": "broker", "05": "insurance", "06": "trust"}
HOLDING_COLUMNS: dict[str, str] = {
    **texts("code report_period org_type"),
    **numbers("org_count hold_shares hold_value ratio_total_pct ratio_float_pct change_shares"),
}
_KEY = ("code", "report_period", "org_type")


def holdings_report(period: str, org_type: str) -> Report:
    """Holdings of one kind of institution at the end of a report period, in every security."""
    kind = next(number for number, name in ORG_TYPES.items() if name == org_type)
    where = (on_day("REPORT_DATE", period), equals("ORG_TYPE", kind))
    return Report("RPT_MAIN_ORGHOLD", EVERY_COLUMN, where, ("SECURITY_CODE",), _KEY)


def holdings_of_report(codes: Sequence[str], since: str, until: str) -> Report:
    """What all kinds held of some securities at the ends of the report periods in [since, until]."""
    days = (on_day("REPORT_DATE", since, ">="), on_day("REPORT_DATE", until, "<="))
    sort = ("SECURITY_CODE", "REPORT_DATE", "ORG_TYPE")
    return Report("RPT_MAIN_ORGHOLD", EVERY_COLUMN, (among("SECURITY_CODE", codes), *days), sort, _KEY)


def holding_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `HOLDING_COLUMNS`: shares, CNY, percent. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], HOLDING_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "REPORT_DATE", "ORG_TYPE", "TOTAL_SHARES"), "institutions")
    code = security_code(row["SECURITY_CODE"], "institutions")
    what = f"institutions {code}"
    kind = string_of(row["ORG_TYPE"], f"{what} ORG_TYPE")
    if kind not in ORG_TYPES:
        raise PayloadError(f"{what}: ORG_TYPE {kind[:8]!r} is unknown")
    return {
        "code": code,
        "report_period": iso_day(string_of(row["REPORT_DATE"], f"{what} REPORT_DATE")[:10], what),
        "org_type": ORG_TYPES[kind],
        "org_count": amount(row.get("HOULD_NUM"), f"{what} HOULD_NUM"),
        "hold_shares": amount(row["TOTAL_SHARES"], f"{what} TOTAL_SHARES"),
        "hold_value": amount(row.get("HOLD_VALUE"), f"{what} HOLD_VALUE"),
        "ratio_total_pct": amount_pct(row.get("TOTALSHARES_RATIO"), f"{what} TOTALSHARES_RATIO"),
        "ratio_float_pct": amount_pct(row.get("FREESHARES_RATIO"), f"{what} FREESHARES_RATIO"),
        "change_shares": number(row.get("HOLDCHA_NUM"), f"{what} HOLDCHA_NUM"),
    }


def amount_pct(value: Any, what: str) -> float:
    """A share in percent; more than everything is another column or unit."""
    result = number(value, what)
    if result < 0 or result > 100:
        raise PayloadError(f"{what} is no share in percent: {value!r}")
    return result
