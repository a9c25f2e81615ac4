"""Share capital of companies, reports of the data centre: its changes (RPT_F10_EH_EQUITY), releases of locked
shares (RPT_LIFT_STAGE) and buybacks (RPTA_WEB_GETHGLIST_NEW)."""

import math
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import Dated
from resources.upstreams.parsing.payload import amount, number, price, string_of
from resources.upstreams.parsing.rows import (
    Table,
    code_of,
    day_of,
    day_or_none,
    may,
    must,
    needed,
    security_code,
    text_of,
    text_or_none,
    unread,
)

_SLACK = 0.001

# -- changes: one row holds the whole structure from its day on


def _check_equity(row: dict[str, Any], what: str) -> None:
    total = row["total_shares"]
    if total <= 0:
        raise PayloadError(f"{what}: TOTAL_SHARES {total:.0f}")
    parts = row["restricted_shares"] + row["unrestricted_shares"]
    if not math.isnan(parts) and abs(parts - total) > _SLACK * total:
        raise PayloadError(f"{what}: LIMITED_SHARES + UNLIMITED_SHARES are not TOTAL_SHARES {total:.0f}")
    if row["float_shares"] > total * (1 + _SLACK):
        raise PayloadError(f"{what}: LISTED_A_SHARES beyond TOTAL_SHARES {total:.0f}")


EQUITY = Table(
    "equity",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, END_DATE="change_date"),
    must(needed(amount), TOTAL_SHARES="total_shares"),
    may(amount, LIMITED_SHARES="restricted_shares", UNLIMITED_SHARES="unrestricted_shares"),
    may(amount, LISTED_A_SHARES="float_shares"),
    may(unread, H_FREE_SHARE="_hong_kong"),
    may(text_or_none, CHANGE_REASON="reason"),
    check=_check_equity,
)
"""Shares; `float_shares` are listed A shares."""


equity_report = Dated(
    "RPT_F10_EH_EQUITY", EQUITY, "END_DATE", "SECURITY_CODE END_DATE", "code change_date", by_name=True
)

# -- releases: CURRENT_FREE_SHARES is what is released, in 10k shares; FREE_SHARES is the whole float after
# the release. Ratios are fractions, the value is in 10k CNY.

_wan = partial(amount, scale=1e4)


def _percent(value: Any, what: str) -> float:
    """Percent of a fraction."""
    price(value, what)
    return number(value, what, scale=100.0)


def _percent_of_all(value: Any, what: str) -> float:
    """Percent of a fraction. More than all shares is another unit."""
    if price(value, what) > 1.0:
        raise PayloadError(f"{what}: {value!r} is no fraction")
    return _percent(value, what)


def _check_lockup(row: dict[str, Any], what: str) -> None:
    released, value = row["free_shares"], row["market_value"]
    # 10k shares have four decimals on the wire, so a share is exact and a product of it nearly so.
    if abs(released * row["_price"] - value) > 1e4 + _SLACK * value:
        raise PayloadError(f"{what}: CURRENT_FREE_SHARES x NEW is not LIFT_MARKET_CAP: another unit")
    row["free_shares"] = round(released)


LOCKUPS = Table(
    "lock-up",
    must(code_of, SECURITY_CODE="code"),
    must(day_of, FREE_DATE="free_date"),
    must(text_of, FREE_SHARES_TYPE="share_type"),
    must(needed(_wan), CURRENT_FREE_SHARES="free_shares"),
    may(_wan, ABLE_FREE_SHARES="able_shares"),
    may(_percent_of_all, TOTAL_RATIO="ratio_total_pct"),
    may(_percent, FREE_RATIO="ratio_float_pct"),
    may(_wan, LIFT_MARKET_CAP="market_value"),
    may(price, NEW="_price"),
    may(amount, BATCH_HOLDER_NUM="holder_count"),
    check=_check_lockup,
)
"""Shares, percent and CNY."""


lockup_report = Dated(
    "RPT_LIFT_STAGE",
    LOCKUPS,
    "FREE_DATE",
    "FREE_DATE SECURITY_CODE FREE_SHARES_TYPE",
    "code free_date share_type",
    by_name=True,
)

# -- buybacks and how far they have come

PROGRESS = {
    "001": "董事会预案", "002": "股东大会通过", "003": "股东大会否决", "004": "实施中", "005": "停止实施",
    "006": "完成实施",
}  # fmt: skip
_COST_SLACK = 0.01


def _progress(value: Any, what: str) -> str:
    progress = string_of(value, what)
    if progress not in PROGRESS:
        raise PayloadError(f"{what} {progress[:8]!r} is unknown")
    return PROGRESS[progress]


def _check_buyback(row: dict[str, Any], what: str) -> None:
    row["start_date"] = row["_begun"] or row["_planned"]
    if row["start_date"] is None:
        raise PayloadError(f"{what}: neither DIM_TRADEDATE nor DIM_DATE")
    if row["update_date"] < row["start_date"]:
        raise PayloadError(f"{what}: UPDATEDATE {row['update_date']} before its begin")
    for low, high in (("amount_low", "amount_high"), ("shares_low", "shares_high")):
        if row[low] > row[high]:
            raise PayloadError(f"{what}: {low} {row[low]:.0f} beyond {high} {row[high]:.0f}")
    # A buyback cannot cost more than its cap: else money, shares or price are in another unit.
    if row["amount_bought"] > row["shares_bought"] * row["price_cap"] * (1 + _COST_SLACK):
        raise PayloadError(f"{what}: REPURAMOUNT beyond REPURNUM x REPURPRICECAP: wrong unit")


BUYBACKS = Table(
    "buyback",
    must(security_code, DIM_SCODE="code"),
    must(_progress, REPURPROGRESS="progress"),
    must(day_of, UPDATEDATE="update_date"),
    # Rows of 2026 are without the first one, and without the range of money.
    may(day_or_none, DIM_TRADEDATE="_begun", DIM_DATE="_planned", REPURENDDATE="end_date"),
    may(amount, JEXX="amount_low", JESX="amount_high", REPURNUMLOWER="shares_low", REPURNUMCAP="shares_high"),
    may(price, REPURPRICECAP="price_cap"),
    may(amount, REPURNUM="shares_bought", REPURAMOUNT="amount_bought"),
    check=_check_buyback,
    more={"start_date": "s"},
)
"""CNY, shares, CNY per share."""


buybacks_report = Dated(
    "RPTA_WEB_GETHGLIST_NEW",
    BUYBACKS,
    "UPDATEDATE",
    "UPD DIM_DATE DIM_SCODE",
    " ".join(BUYBACKS.columns),
    code="DIM_SCODE",
)
"""By the day of the latest announcement. A company may begin two on one day: they differ in size or price."""
