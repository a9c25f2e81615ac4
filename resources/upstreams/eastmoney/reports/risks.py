"""Risks of companies, reports of the data centre: pledged shares by week (RPT_CSDC_LIST) and one by one
(RPTA_APP_ACCUMDETAILS), goodwill (RPT_GOODWILL_STOCKDETAILS), and the portal's own marks of every stock
(RPT_DMSK_TS_STOCKNEW, the newest session alone)."""

import math
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import (
    EVERY_COLUMN,
    Dated,
    Report,
    equals,
)
from resources.upstreams.parsing.frames import numbers
from resources.upstreams.parsing.payload import AMT, PCT, amount, number, price
from resources.upstreams.parsing.rows import (
    Table,
    code_of,
    day_of,
    day_or_none,
    may,
    must,
    needed,
    not_zero,
    text_or_none,
)

# -- pledged shares

_PRICES = (0.01, 10_000.0)
"""10k CNY / 10k shares is a price: another unit of either leaves these bounds, or nearly always."""
_SLACK_WAN = 0.05


def _check_pledge(row: dict[str, Any], what: str) -> None:
    shares, worth = row["pledge_shares_wan"], row["pledge_market_value"]
    if row["pledge_ratio"] > 100:
        raise PayloadError(f"{what}: PLEDGE_RATIO {row['pledge_ratio']} is above 100 percent")
    if abs(row["unrestricted_shares_wan"] + row["restricted_shares_wan"] - shares) > _SLACK_WAN:
        raise PayloadError(f"{what}: unlimited and limited balances do not add up to REPURCHASE_BALANCE")
    if shares > 0 and worth > 0 and not _PRICES[0] <= worth / shares <= _PRICES[1]:
        raise PayloadError(f"{what}: PLEDGE_MARKET_CAP / REPURCHASE_BALANCE is no price: another unit")


PLEDGES = Table(
    "pledge",
    must(code_of, SECURITY_CODE="code"),
    must(day_of, TRADE_DATE="trade_date"),
    may(text_or_none, SECURITY_NAME_ABBR="name", INDUSTRY="industry"),
    must(needed(price), PLEDGE_RATIO="pledge_ratio"),
    may(amount, REPURCHASE_BALANCE="pledge_shares_wan", PLEDGE_MARKET_CAP="pledge_market_value"),
    may(amount, PLEDGE_DEAL_NUM="pledge_count", REPURCHASE_UNLIMITED_BALANCE="unrestricted_shares_wan"),
    may(amount, REPURCHASE_LIMITED_BALANCE="restricted_shares_wan"),
    may(number, Y1_CLOSE_ADJCHRATE="change_1y_pct"),
    check=_check_pledge,
)
"""10k shares, 10k CNY, percent."""


pledges_report = Dated("RPT_CSDC_LIST", PLEDGES, "TRADE_DATE", "TRADE_DATE SECURITY_CODE", "code trade_date")


def _check_event(row: dict[str, Any], what: str) -> None:
    if row["ratio_hold_pct"] > 100 or row["ratio_total_pct"] > 100:
        raise PayloadError(f"{what}: more than all shares are pledged")


PLEDGE_EVENTS = Table(
    "pledge event",
    must(code_of, SECURITY_CODE="code"),
    must(text_or_none, HOLDER_NAME="holder"),
    may(day_or_none, NOTICE_DATE="ann_date"),
    may(text_or_none, PF_ORG="pledgee", UNFREEZE_STATE="status"),
    must(day_or_none, PF_START_DATE="start_date"),
    must(amount, PF_NUM="pledge_shares"),
    may(price, PF_HOLD_RATIO="ratio_hold_pct", PF_TSR="ratio_total_pct"),
    may(price, WARNING_LINE="warning_line", OPENLINE="open_line"),
    check=_check_event,
)
"""Shares, percent of the holder's and of all shares, CNY. Pledges have no number of their own: two that are
alike in everything are one."""


def pledge_events_report(code: str) -> Report:
    """Every pledge of shares of one company that was noticed."""
    sort = ("-NOTICE_DATE", "HOLDER_NAME", "PF_START_DATE", "PF_ORG", "PF_NUM")
    key = tuple(PLEDGE_EVENTS.columns)
    return Report("RPTA_APP_ACCUMDETAILS", EVERY_COLUMN, (equals("SECURITY_CODE", code),), sort, key)


# -- goodwill. Its ratio to equity is a fraction. The impairment's share of the profit has no documented unit
# in any source, so it is computed from the two amounts.

_SLACK = 0.01
_money = partial(number, digits=AMT)


def _check_goodwill(row: dict[str, Any], what: str) -> None:
    equity, ratio, profit = row["_equity"], row["goodwill_equity_ratio_pct"], row["net_profit"]
    if equity and not math.isnan(equity) and not math.isnan(ratio):
        meant = row["goodwill"] / equity * 100
        if abs(ratio - meant) > _SLACK + 0.01 * abs(meant):
            raise PayloadError(
                f"{what}: SUMSHEQUITY_RATIO is not GOODWILL / SUMSHEQUITY = {meant:.4f} percent"
            )
    row["impairment_profit_ratio_pct"] = round(row["impairment"] / profit * 100, PCT) if profit else math.nan


GOODWILL = Table(
    "goodwill",
    must(code_of, SECURITY_CODE="code"),
    may(text_or_none, SECURITY_NAME_ABBR="name"),
    must(day_of, REPORT_DATE="report_period"),
    may(day_or_none, NOTICE_DATE="ann_date"),
    must(needed(amount), GOODWILL="goodwill"),
    may(amount, GOODWILL_PRE="goodwill_prev"),
    may(_money, GOODWILL_CHANGE="impairment", SUMSHEQUITY="_equity"),
    may(partial(number, scale=100.0), SUMSHEQUITY_RATIO="goodwill_equity_ratio_pct"),
    may(_money, PARENTNETPROFIT="net_profit"),
    may(number, PNP_YOY_RATIO="net_profit_yoy"),
    check=_check_goodwill,
    more=numbers("impairment_profit_ratio_pct"),
)
"""CNY and percent."""


goodwill_report = Dated(
    "RPT_GOODWILL_STOCKDETAILS",
    GOODWILL,
    "REPORT_DATE",
    "SECURITY_CODE REPORT_DATE",
    "code report_period",
    by_name=True,
)

# -- marks (千股千评)

_SLACK_CNY = 5.0


def _check_comment(row: dict[str, Any], what: str) -> None:
    if not 0 <= row["org_participation_pct"] <= 100 and not math.isnan(row["org_participation_pct"]):
        raise PayloadError(f"{what}: ORG_PARTICIPATE is no fraction: another unit")
    if row["total_score"] > 100:
        raise PayloadError(f"{what}: TOTALSCORE {row['total_score']} is above 100")
    # The inflow of the large hands is that of their two sizes: it fails when columns are shifted.
    parts = row["_super_large_in"] - row["_super_large_out"] + row["_big_in"] - row["_big_out"]
    gap = abs(row["_prime"] - parts)
    if not math.isnan(gap) and gap > _SLACK_CNY:
        raise PayloadError(f"{what}: PRIME_INFLOW is not the sum of its parts by {gap:.2f}")


COMMENTS = Table(
    "comment",
    must(code_of, SECURITY_CODE="code"),
    must(day_of, TRADE_DATE="trade_date"),
    may(text_or_none, SECURITY_NAME_ABBR="name"),
    may(not_zero(price), CLOSE_PRICE="price", RANK="rank_no", PRIME_COST="prime_cost"),
    may(number, CHANGE_RATE="change_pct", RANK_UP="rank_change", PE_DYNAMIC="pe_dynamic"),
    must(price, TOTALSCORE="total_score"),
    may(partial(number, scale=100.0), ORG_PARTICIPATE="org_participation_pct"),
    may(price, FOCUS="focus_index", TURNOVERRATE="turnover_pct"),
    may(
        number,
        SUPERDEAL_INFLOW="_super_large_in",
        SUPERDEAL_OUTFLOW="_super_large_out",
        BIGDEAL_INFLOW="_big_in",
    ),
    may(number, BIGDEAL_OUTFLOW="_big_out", PRIME_INFLOW="_prime"),
    check=_check_comment,
)
"""CNY, percent, marks of 0 to 100; `rank_no` from 1."""


comments_report = Dated("RPT_DMSK_TS_STOCKNEW", COMMENTS, "TRADE_DATE", "SECURITY_CODE", "code trade_date")
