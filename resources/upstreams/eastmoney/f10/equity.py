"""Changes of a company's share capital, a report of the data centre (RPT_F10_EH_EQUITY). One row holds the
whole structure from its day on."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import notice_clauses, security_code, text_or_none
from resources.upstreams.eastmoney.reports.gateway import Report
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, promised, required, string_of

EQUITY_COLUMNS: dict[str, str] = {
    **texts("code change_date reason"),
    **numbers("total_shares float_shares restricted_shares unrestricted_shares"),
}
_FIELDS = ("SECURITY_CODE", "END_DATE", "TOTAL_SHARES", "LIMITED_SHARES", "UNLIMITED_SHARES",
           "LISTED_A_SHARES", "H_FREE_SHARE", "CHANGE_REASON")  # fmt: skip
_SLACK = 0.001


def equity_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Changes on the days of [since, until] (None: ever), of all companies or of some."""
    where = notice_clauses("END_DATE", since, until, codes)
    sort = ("SECURITY_CODE", "END_DATE")
    return Report("RPT_F10_EH_EQUITY", _FIELDS, where, sort, ("code", "change_date"))


def equity_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `EQUITY_COLUMNS`, shares; `float_shares` are listed A shares. PayloadError when the parts are
    not the whole."""
    return frame([_row(row) for row in rows], EQUITY_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "END_DATE", "TOTAL_SHARES"), "equity")
    code = security_code(row["SECURITY_CODE"], "equity")
    what = f"equity {code}"
    made: dict[str, Any] = {
        "code": code,
        "change_date": iso_day(string_of(row["END_DATE"], f"{what} END_DATE")[:10], f"{what} END_DATE"),
        "reason": text_or_none(row.get("CHANGE_REASON"), f"{what} CHANGE_REASON"),
        "total_shares": required(amount(row["TOTAL_SHARES"], f"{what} TOTAL_SHARES"), f"{what} TOTAL_SHARES"),
        "float_shares": amount(row.get("LISTED_A_SHARES"), f"{what} LISTED_A_SHARES"),
        "restricted_shares": amount(row.get("LIMITED_SHARES"), f"{what} LIMITED_SHARES"),
        "unrestricted_shares": amount(row.get("UNLIMITED_SHARES"), f"{what} UNLIMITED_SHARES"),
    }
    total = made["total_shares"]
    if total <= 0:
        raise PayloadError(f"{what}: TOTAL_SHARES {total:.0f}")
    parts = made["restricted_shares"] + made["unrestricted_shares"]
    if not math.isnan(parts) and abs(parts - total) > _SLACK * total:
        raise PayloadError(f"{what}: LIMITED_SHARES + UNLIMITED_SHARES are not TOTAL_SHARES {total:.0f}")
    if made["float_shares"] > total * (1 + _SLACK):
        raise PayloadError(f"{what}: LISTED_A_SHARES beyond TOTAL_SHARES {total:.0f}")
    return made
