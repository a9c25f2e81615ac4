"""Funds that hold a company at the ends of report periods, a report of the data centre
(RPT_MAINDATA_MAIN_POSITIONDETAILS)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.f10.pages import secucode
from resources.upstreams.eastmoney.reports.by_notice import security_code, text_or_none
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, days_among, equals
from resources.upstreams.eastmoney.reports.institutions import amount_pct
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, promised, required, string_of

POSITION_COLUMNS: dict[str, str] = {
    **texts("code report_period fund_code fund_name"),
    **numbers("hold_shares hold_value nav_ratio_pct float_ratio_pct"),
}
_FUNDS = "基金"
"""As public clients ask for them; other reports number the kinds of institutions (01)."""
_KEY = ("code", "report_period", "fund_code")


def positions_report(symbol: str, periods: Sequence[str]) -> Report:
    """The funds that held one company at the ends of some report periods."""
    where = (
        equals("SECURITY_CODE", symbol[2:]),
        days_among("REPORT_DATE", periods),
        equals("ORG_TYPE", _FUNDS),
    )
    name = "RPT_MAINDATA_MAIN_POSITIONDETAILS"
    return Report(name, EVERY_COLUMN, where, ("REPORT_DATE", "HOLDER_CODE"), _KEY)


def position_rows(rows: Sequence[Mapping[str, Any]], symbol: str) -> pd.DataFrame:
    """Columns `POSITION_COLUMNS`: shares, CNY, percent of the fund's assets and of the float. PayloadError
    for another company or kind of institution, and for a row that cannot be."""
    return frame([_row(row, symbol) for row in rows], POSITION_COLUMNS)


def _row(row: Mapping[str, Any], symbol: str) -> dict[str, Any]:
    what = f"positions {symbol}"
    promised(row, ("SECURITY_CODE", "REPORT_DATE", "HOLDER_CODE", "TOTAL_SHARES"), what)
    for name, asked in (("SECURITY_CODE", symbol[2:]), ("SECUCODE", secucode(symbol))):
        if row.get(name, asked) != asked:
            raise PayloadError(f"{what}: answered for {str(row[name])[:20]!r}")
    if row.get("ORG_TYPE") != _FUNDS:
        raise PayloadError(f"{what}: ORG_TYPE {str(row.get('ORG_TYPE'))[:8]!r} is no fund")
    fund = string_of(row["HOLDER_CODE"], f"{what} HOLDER_CODE").strip()
    if not fund or len(fund) > 16:
        raise PayloadError(f"{what}: HOLDER_CODE {fund[:20]!r}")
    return {
        "code": security_code(row["SECURITY_CODE"], what),
        "report_period": iso_day(
            string_of(row["REPORT_DATE"], f"{what} REPORT_DATE")[:10], f"{what} REPORT_DATE"
        ),
        "fund_code": fund,
        "fund_name": text_or_none(row.get("HOLDER_NAME"), f"{what} HOLDER_NAME"),
        "hold_shares": required(amount(row["TOTAL_SHARES"], f"{what} TOTAL_SHARES"), f"{what} TOTAL_SHARES"),
        "hold_value": amount(row.get("HOLD_MARKET_CAP"), f"{what} HOLD_MARKET_CAP"),
        "nav_ratio_pct": number(row.get("NETASSET_RATIO"), f"{what} NETASSET_RATIO"),
        "float_ratio_pct": amount_pct(row.get("FREE_SHARES_RATIO"), f"{what} FREE_SHARES_RATIO"),
    }
