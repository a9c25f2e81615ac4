"""Trades of executives and their relatives in their own company, a report of the data centre
(RPT_EXECUTIVE_HOLD_DETAILS). Equal lines are ordinary: two trades of one person at one price."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import notice_clauses, security_code, text_or_none
from resources.upstreams.eastmoney.reports.gateway import Report
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, price, promised, required, string_of

TRADE_COLUMNS: dict[str, str] = {
    **texts("code change_date person title relation reason"),
    **numbers("change_shares price amount after_shares"),
}
DAY = "CHANGE_DATE"
_FIELDS = ("SECURITY_CODE", DAY, "PERSON_NAME", "POSITION_NAME", "PERSON_DSE_RELATION", "CHANGE_SHARES",
           "AVERAGE_PRICE", "CHANGE_AMOUNT", "CHANGE_REASON", "CHANGE_AFTER_HOLDNUM")  # fmt: skip
_UNIT_SLACK = 5


def trades_report(since: str | None, until: str, codes: Sequence[str] | None = None) -> Report:
    """Trades of [since, until] (None: ever), in all securities or in some."""
    where = notice_clauses(DAY, since, until, codes)
    sort = ("SECURITY_CODE", DAY, "PERSON_NAME", "CHANGE_SHARES")
    return Report("RPT_EXECUTIVE_HOLD_DETAILS", _FIELDS, where, sort, key=())


def trade_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `TRADE_COLUMNS`: shares (sold ones below zero), CNY. PayloadError when a row contradicts
    itself."""
    return frame([_row(row) for row in rows], TRADE_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", DAY, "PERSON_NAME", "CHANGE_SHARES"), "executives")
    code = security_code(row["SECURITY_CODE"], "executives")
    what = f"executives {code}"
    shares = required(number(row["CHANGE_SHARES"], f"{what} CHANGE_SHARES"), f"{what} CHANGE_SHARES")
    made: dict[str, Any] = {
        "code": code,
        "change_date": iso_day(string_of(row[DAY], f"{what} {DAY}")[:10], f"{what} {DAY}"),
        "person": text_or_none(row["PERSON_NAME"], f"{what} PERSON_NAME"),
        "title": text_or_none(row.get("POSITION_NAME"), f"{what} POSITION_NAME"),
        "relation": text_or_none(row.get("PERSON_DSE_RELATION"), f"{what} PERSON_DSE_RELATION"),
        "reason": text_or_none(row.get("CHANGE_REASON"), f"{what} CHANGE_REASON"),
        "change_shares": shares,
        "price": price(row.get("AVERAGE_PRICE"), f"{what} AVERAGE_PRICE"),
        "amount": number(row.get("CHANGE_AMOUNT"), f"{what} CHANGE_AMOUNT", digits=2),
        "after_shares": amount(row.get("CHANGE_AFTER_HOLDNUM"), f"{what} CHANGE_AFTER_HOLDNUM"),
    }
    if made["person"] is None:
        raise PayloadError(f"{what}: PERSON_NAME is missing")
    meant, stated = abs(shares) * made["price"], abs(made["amount"])
    if meant > 0 and stated > 0 and not meant / _UNIT_SLACK <= stated <= meant * _UNIT_SLACK:
        raise PayloadError(
            f"{what}: CHANGE_AMOUNT {stated} is not {abs(shares):.0f} x {made['price']}: wrong unit"
        )
    return made
