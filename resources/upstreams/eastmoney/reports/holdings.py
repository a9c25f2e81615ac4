"""Who holds shares, reports of the data centre: holder counts (RPT_HOLDERNUM_DET), institutions by report
period (RPT_MAIN_ORGHOLD), and trades of executives in their own company (RPT_EXECUTIVE_HOLD_DETAILS)."""

import math
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import (
    EVERY_COLUMN,
    Dated,
    Report,
    equals,
    on_day,
)
from resources.upstreams.parsing.payload import AMT, amount, number, price, string_of
from resources.upstreams.parsing.rows import (
    Table,
    day_of,
    day_or_none,
    may,
    must,
    needed,
    security_code,
    share_pct,
    text_or_none,
)

# -- holder counts

NOTICE = "HOLD_NOTICE_DATE"
_RATIO_SLACK = 0.01
_COUNT_SLACK = 20
"""A company with B or H shares has more holders than its A shares alone; a wrong unit is a factor of 100."""


def _check_holders(row: dict[str, Any], what: str) -> None:
    """The identities of the report: they fail when a column is shifted or in another unit."""
    holders, before, change = row["holder_num"], row["_before"], row["change_num"]
    ratio = row["change_ratio"]
    if abs(holders - before - change) > 0.5:
        raise PayloadError(f"{what}: HOLDER_NUM - PRE_HOLDER_NUM is not HOLDER_NUM_CHANGE {change:.0f}")
    if before > 0 and not math.isnan(change) and not math.isnan(ratio):
        meant = change / before * 100
        if abs(ratio - meant) > _RATIO_SLACK + 0.01 * abs(meant):
            raise PayloadError(f"{what}: HOLDER_NUM_RATIO {ratio} is not the change of {meant:.4f} percent")
    if holders > 0 and row["avg_shares"] > 0 and row["total_shares"] > 0:
        factor = row["avg_shares"] / (row["total_shares"] / holders)
        if not 1 / _COUNT_SLACK <= factor <= _COUNT_SLACK:
            raise PayloadError(
                f"{what}: AVG_HOLD_NUM is {factor:.4g} x TOTAL_A_SHARES / HOLDER_NUM: wrong unit"
            )


HOLDERS = Table(
    "holders",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, END_DATE="date"),
    must(day_or_none, **{NOTICE: "ann_date"}),
    must(needed(amount), HOLDER_NUM="holder_num"),
    may(amount, PRE_HOLDER_NUM="_before"),
    may(number, HOLDER_NUM_CHANGE="change_num", HOLDER_NUM_RATIO="change_ratio"),
    may(amount, AVG_HOLD_NUM="avg_shares", AVG_MARKET_CAP="avg_market_cap", TOTAL_A_SHARES="total_shares"),
    may(number, INTERVAL_CHRATE="interval_change_pct"),
    check=_check_holders,
)
"""Holders, A shares, CNY, percent."""


holder_report = Dated(
    "RPT_HOLDERNUM_DET", HOLDERS, NOTICE, "SECURITY_CODE END_DATE", "code date", by_name=True
)

# -- institutions

ORG_TYPES = {"01": "fund", "02": "qfii", "03": "social", "04": "broker", "05": "insurance", "06": "trust"}
_HOLDING_KEY = ("code", "report_period", "org_type")


def _org_type(value: Any, what: str) -> str:
    kind = string_of(value, what)
    if kind not in ORG_TYPES:
        raise PayloadError(f"{what} {kind[:8]!r} is unknown")
    return ORG_TYPES[kind]


HOLDINGS = Table(
    "institutions",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, REPORT_DATE="report_period"),
    must(_org_type, ORG_TYPE="org_type"),
    must(amount, TOTAL_SHARES="hold_shares"),
    may(amount, HOULD_NUM="org_count", HOLD_VALUE="hold_value"),
    may(share_pct, TOTALSHARES_RATIO="ratio_total_pct", FREESHARES_RATIO="ratio_float_pct"),
    may(number, HOLDCHA_NUM="change_shares"),
)
"""Shares, CNY, percent."""


def holdings_report(period: str, org_type: str) -> Report:
    """Holdings of one kind of institution at the end of a report period, in every security."""
    kind = next(number for number, name in ORG_TYPES.items() if name == org_type)
    where = (on_day("REPORT_DATE", period), equals("ORG_TYPE", kind))
    return Report("RPT_MAIN_ORGHOLD", EVERY_COLUMN, where, ("SECURITY_CODE",), _HOLDING_KEY)


holdings_of_report = Dated(
    "RPT_MAIN_ORGHOLD", HOLDINGS, "REPORT_DATE", "SECURITY_CODE REPORT_DATE ORG_TYPE", " ".join(_HOLDING_KEY)
)
"""What all kinds held, by report period."""

# -- executives. A person may trade twice at one price: then the shares held afterwards differ.

_MONEY_SLACK = 5


def _check_trade(row: dict[str, Any], what: str) -> None:
    if row["person"] is None:
        raise PayloadError(f"{what}: PERSON_NAME is missing")
    shares, paid = abs(row["change_shares"]), row["price"]
    meant, stated = shares * paid, abs(row["amount"])
    if meant > 0 and stated > 0 and not meant / _MONEY_SLACK <= stated <= meant * _MONEY_SLACK:
        raise PayloadError(f"{what}: CHANGE_AMOUNT {stated} is not {shares:.0f} x {paid}: wrong unit")


TRADES = Table(
    "executives",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, CHANGE_DATE="change_date"),
    must(text_or_none, PERSON_NAME="person"),
    may(text_or_none, POSITION_NAME="title", PERSON_DSE_RELATION="relation"),
    must(needed(number), CHANGE_SHARES="change_shares"),
    may(price, AVERAGE_PRICE="price"),
    may(partial(number, digits=AMT), CHANGE_AMOUNT="amount"),
    may(text_or_none, CHANGE_REASON="reason"),
    may(amount, CHANGE_AFTER_HOLDNUM="after_shares"),
    check=_check_trade,
)
"""Shares (sold ones below zero), CNY."""


trades_report = Dated(
    "RPT_EXECUTIVE_HOLD_DETAILS",
    TRADES,
    "CHANGE_DATE",
    "SECURITY_CODE CHANGE_DATE PERSON_NAME CHANGE_SHARES",
    " ".join(TRADES.columns),
    by_name=True,
)
