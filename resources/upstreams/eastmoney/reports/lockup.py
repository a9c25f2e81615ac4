"""Releases of locked shares (限售解禁), a report of the data centre (RPT_LIFT_STAGE).

CURRENT_FREE_SHARES is what is released, in 10k shares; FREE_SHARES is the whole float after the
release. Ratios are fractions, the value is in 10k CNY.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.gateway import Report, among, code_of, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, price, promised, required, string_of

LOCKUP_COLUMNS: dict[str, str] = {
    **texts("code free_date share_type"),
    **numbers("free_shares able_shares ratio_total_pct ratio_float_pct market_value holder_count"),
}
"""Shares, percent and CNY."""
_WAN = 1e4
_FIELDS = ("SECURITY_CODE", "FREE_DATE", "FREE_SHARES_TYPE", "CURRENT_FREE_SHARES", "ABLE_FREE_SHARES",
           "TOTAL_RATIO", "FREE_RATIO", "LIFT_MARKET_CAP", "NEW", "BATCH_HOLDER_NUM")  # fmt: skip
_PROMISED = ("SECURITY_CODE", "FREE_DATE", "FREE_SHARES_TYPE", "CURRENT_FREE_SHARES")
_SLACK = 0.001


def lockup_report(since: str, until: str, codes: Sequence[str] | None = None) -> Report:
    """All releases between two dates, or those of some codes."""
    where = (
        on_day("FREE_DATE", since, ">="),
        on_day("FREE_DATE", until, "<="),
        *(() if codes is None else (among("SECURITY_CODE", codes),)),
    )
    sort = ("FREE_DATE", "SECURITY_CODE", "FREE_SHARES_TYPE")
    return Report("RPT_LIFT_STAGE", _FIELDS, where, sort=sort, key=("code", "free_date", "share_type"))


def lockup_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `LOCKUP_COLUMNS`. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], LOCKUP_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "lock-up")
    code = code_of(row["SECURITY_CODE"], "lock-up")
    what = f"lock-up {code}"
    kind = string_of(row["FREE_SHARES_TYPE"], f"{what} FREE_SHARES_TYPE").strip()
    if not kind:
        raise PayloadError(f"{what}: FREE_SHARES_TYPE is empty")
    released = amount(row["CURRENT_FREE_SHARES"], f"{what} CURRENT_FREE_SHARES", scale=_WAN)
    value = amount(row.get("LIFT_MARKET_CAP"), f"{what} LIFT_MARKET_CAP", scale=_WAN)
    at = price(row.get("NEW"), f"{what} NEW")
    # 10k shares have four decimals on the wire, so a share is exact and a product of it nearly so.
    if abs(required(released, f"{what} CURRENT_FREE_SHARES") * at - value) > 1e4 + _SLACK * value:
        raise PayloadError(f"{what}: CURRENT_FREE_SHARES x NEW is not LIFT_MARKET_CAP: another unit")
    return {
        "code": code,
        "free_date": day_of(row["FREE_DATE"], f"{what} FREE_DATE"),
        "share_type": kind,
        "free_shares": round(released),
        "able_shares": amount(row.get("ABLE_FREE_SHARES"), f"{what} ABLE_FREE_SHARES", scale=_WAN),
        "ratio_total_pct": _percent(row.get("TOTAL_RATIO"), f"{what} TOTAL_RATIO"),
        "ratio_float_pct": _percent(row.get("FREE_RATIO"), f"{what} FREE_RATIO", most=None),
        "market_value": value,
        "holder_count": amount(row.get("BATCH_HOLDER_NUM"), f"{what} BATCH_HOLDER_NUM"),
    }


def _percent(value: Any, what: str, most: float | None = 1.0) -> float:
    """Percent of a fraction. More than all shares is another unit."""
    fraction = price(value, what)
    if most is not None and fraction > most:
        raise PayloadError(f"{what}: {value!r} is no fraction")
    return number(value, what, scale=100.0)
