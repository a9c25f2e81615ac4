"""Records of the data service by field: holder counts of a quarter end (p_sysapi1034), share capital of a
company (p_stock2215)."""

import math
from datetime import datetime
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.cninfo.data_service import data_request, records_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, iso_day, number, required, string_of

HOLDER_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("holder_num change_num change_ratio avg_shares"),
}
EQUITY_COLUMNS: dict[str, str] = {
    **texts("code change_date ann_date reason"),
    **numbers("total_shares float_shares restricted_shares"),
}
"""Shares; `float_shares` are the ordinary shares in CNY that may be traded."""
_WAN = 1e4
_SLACK = 0.001


def holders_request(period: str, now: datetime) -> Request:
    """All companies at a quarter end."""
    params = (("rdate", period.replace("-", "")),)
    label = params[0][1]
    return data_request("/api/sysapi/p_sysapi1034", "holder_counts", params, now, label=label)


def equity_request(code: str, since: str, until: str, now: datetime) -> Request:
    """One company, changes on the days of [since, until]."""
    params = (("scode", code), ("sdate", since), ("edate", until))
    label = f"{code} {since} {until}"
    return data_request("/api/stock/p_stock2215", "share_changes", params, now, label=label)


def parse_holders(body: bytes, period: str) -> pd.DataFrame:
    """Columns `HOLDER_COLUMNS`. PayloadError for another quarter, or when a change is not that of its
    counts."""
    what = f"holders {period}"
    rows = accepted_rows(
        records_of(body, what), lambda row: _holder(row, period), what, lambda row: row.get("SECCODE")
    )
    made = frame(rows, HOLDER_COLUMNS)
    if made["code"].duplicated().any():
        raise PayloadError(f"holders {period}: a company appears twice")
    return made


def _holder(row: dict[str, Any], period: str) -> dict[str, Any]:
    code = _code(row, "SECCODE", f"holders {period}")
    what = f"holders {period} {code}"
    _promised(row, ("ENDDATE", "F001N", "F002N", "F003N", "F004N"), what)
    day = _day(row["ENDDATE"], f"{what} ENDDATE")
    if day != period:
        raise PayloadError(f"{what}: a count of {day}")
    count = required(amount(row["F001N"], f"{what} F001N"), f"{what} F001N")
    before = amount(row["F002N"], f"{what} F002N")
    ratio = number(row["F003N"], f"{what} F003N")
    if (
        before > 0
        and not math.isnan(ratio)
        and abs(ratio - (count / before - 1) * 100) > 0.02 + abs(ratio) / 100
    ):
        raise PayloadError(f"{what}: F003N {ratio} is not the change from {before:.0f} to {count:.0f}")
    return {
        "code": code,
        "date": day,
        "holder_num": count,
        "change_num": count - before,
        "change_ratio": ratio,
        "avg_shares": amount(row["F004N"], f"{what} F004N"),
    }


def parse_equity(body: bytes, code: str) -> pd.DataFrame:
    """Columns `EQUITY_COLUMNS`, the newest notice of a day alone. PayloadError for another company, or parts
    that are more than the whole."""
    found: dict[str, dict[str, Any]] = {}
    for raw in records_of(body, f"equity {code}"):
        row = _change(raw, code)
        known = found.get(row["change_date"])
        if known is None or (row["ann_date"] or "") >= (known["ann_date"] or ""):
            found[row["change_date"]] = row
    return frame([found[day] for day in sorted(found)], EQUITY_COLUMNS)


def _change(row: dict[str, Any], code: str) -> dict[str, Any]:
    what = f"equity {code}"
    stated = _code(row, "SECCODE", what)
    if stated != code:
        raise PayloadError(f"{what}: a change of {stated}")
    _promised(row, ("VARYDATE", "F003N", "F022N"), what)
    total = required(amount(row["F003N"], f"{what} F003N", scale=_WAN), f"{what} F003N")
    floating = amount(row["F022N"], f"{what} F022N", scale=_WAN)
    if total <= 0 or floating > total * (1 + _SLACK):
        raise PayloadError(f"{what}: {floating:.0f} of {total:.0f} shares")
    announced, reason = row.get("DECLAREDATE"), row.get("F002V")
    return {
        "code": code,
        "change_date": _day(row["VARYDATE"], f"{what} VARYDATE"),
        "ann_date": None if announced is None else _day(announced, f"{what} DECLAREDATE"),
        "reason": None if reason is None else string_of(reason, f"{what} F002V").strip()[:255] or None,
        "total_shares": float(round(total)),
        "float_shares": math.nan if math.isnan(floating) else float(round(floating)),
    }


def _code(row: dict[str, Any], name: str, what: str) -> str:
    code = string_of(row.get(name), f"{what} {name}")
    if len(code) != 6 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"{what}: {code[:20]!r} is no code")
    return code


def _day(value: Any, what: str) -> str:
    return iso_day(string_of(value, what)[:10], what)


def _promised(row: dict[str, Any], names: tuple[str, ...], what: str) -> None:
    gone = [name for name in names if name not in row]
    if gone:
        raise PayloadError(f"{what}: no field {', '.join(gone)}")
