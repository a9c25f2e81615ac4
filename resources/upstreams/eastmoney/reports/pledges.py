"""Pledged shares: the weekly list of the clearing house (RPT_CSDC_LIST) and single pledges of a company
(RPTA_APP_ACCUMDETAILS)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, text_or_none
from resources.upstreams.eastmoney.reports.gateway import (
    EVERY_COLUMN,
    Report,
    among,
    code_of,
    day_of,
    equals,
    on_day,
)
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, price, promised, required

PLEDGE_COLUMNS: dict[str, str] = {
    **texts("code trade_date name industry"),
    **numbers("pledge_ratio pledge_shares_wan pledge_market_value pledge_count"),
    **numbers("unrestricted_shares_wan restricted_shares_wan change_1y_pct"),
}
PLEDGE_EVENT_COLUMNS: dict[str, str] = {
    **texts("code holder ann_date pledgee start_date status"),
    **numbers("pledge_shares ratio_hold_pct ratio_total_pct warning_line open_line"),
}
_PROMISED = ("SECURITY_CODE", "TRADE_DATE", "PLEDGE_RATIO")
_PRICES = (0.01, 10_000.0)
"""10k CNY / 10k shares is a price: another unit of either leaves these bounds, or nearly always."""
_SLACK_WAN = 0.05


def pledges_report(since: str, until: str, codes: Sequence[str] | None = None) -> Report:
    """The lists of the days in [since, until], of all companies or of some."""
    where = (
        *(() if codes is None else (among("SECURITY_CODE", codes),)),
        on_day("TRADE_DATE", since, ">="),
        on_day("TRADE_DATE", until, "<="),
    )
    sort = ("TRADE_DATE", "SECURITY_CODE")
    return Report("RPT_CSDC_LIST", EVERY_COLUMN, where, sort, ("code", "trade_date"))


def pledge_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `PLEDGE_COLUMNS`: 10k shares, 10k CNY, percent. PayloadError when a row contradicts itself."""
    return frame([_row(row) for row in rows], PLEDGE_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _PROMISED, "pledge")
    code = code_of(row["SECURITY_CODE"], "pledge")
    what = f"pledge {code}"

    def value(name: str) -> float:
        return amount(row.get(name), f"{what} {name}")

    ratio = required(price(row["PLEDGE_RATIO"], f"{what} PLEDGE_RATIO"), f"{what} PLEDGE_RATIO")
    if ratio > 100:
        raise PayloadError(f"{what}: PLEDGE_RATIO {ratio} is above 100 percent")
    shares = value("REPURCHASE_BALANCE")
    free, bound = value("REPURCHASE_UNLIMITED_BALANCE"), value("REPURCHASE_LIMITED_BALANCE")
    worth = value("PLEDGE_MARKET_CAP")
    if abs(free + bound - shares) > _SLACK_WAN:
        raise PayloadError(f"{what}: unlimited and limited balances do not add up to REPURCHASE_BALANCE")
    if shares > 0 and worth > 0 and not _PRICES[0] <= worth / shares <= _PRICES[1]:
        raise PayloadError(f"{what}: PLEDGE_MARKET_CAP / REPURCHASE_BALANCE is no price: another unit")
    return {
        "code": code,
        "trade_date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
        "name": text_or_none(row.get("SECURITY_NAME_ABBR"), f"{what} name"),
        "industry": text_or_none(row.get("INDUSTRY"), f"{what} INDUSTRY"),
        "pledge_ratio": ratio,
        "pledge_shares_wan": shares,
        "pledge_market_value": worth,
        "pledge_count": value("PLEDGE_DEAL_NUM"),
        "unrestricted_shares_wan": free,
        "restricted_shares_wan": bound,
        "change_1y_pct": number(row.get("Y1_CLOSE_ADJCHRATE"), f"{what} Y1_CLOSE_ADJCHRATE"),
    }


def pledge_events_report(code: str) -> Report:
    """Every pledge of shares of one company that was noticed."""
    sort = ("-NOTICE_DATE", "HOLDER_NAME", "PF_START_DATE", "PF_ORG", "PF_NUM")
    return Report("RPTA_APP_ACCUMDETAILS", EVERY_COLUMN, (equals("SECURITY_CODE", code),), sort, key=())


def pledge_event_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `PLEDGE_EVENT_COLUMNS`: shares, percent of the holder's and of all shares, CNY. Equal lines are
    ordinary. PayloadError for implausible figures."""
    return frame([_event(row) for row in rows], PLEDGE_EVENT_COLUMNS)


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "HOLDER_NAME", "PF_NUM", "PF_START_DATE"), "pledge event")
    code = code_of(row["SECURITY_CODE"], "pledge event")
    what = f"pledge event {code}"
    ratios = {
        name: price(row.get(wire), f"{what} {wire}")
        for name, wire in (("ratio_hold_pct", "PF_HOLD_RATIO"), ("ratio_total_pct", "PF_TSR"))
    }
    if any(ratio > 100 for ratio in ratios.values()):
        raise PayloadError(f"{what}: more than all shares are pledged")
    return {
        "code": code,
        "holder": text_or_none(row["HOLDER_NAME"], f"{what} HOLDER_NAME"),
        "ann_date": day_or_none(row.get("NOTICE_DATE"), f"{what} NOTICE_DATE"),
        "pledgee": text_or_none(row.get("PF_ORG"), f"{what} PF_ORG"),
        "start_date": day_or_none(row["PF_START_DATE"], f"{what} PF_START_DATE"),
        "status": text_or_none(row.get("UNFREEZE_STATE"), f"{what} UNFREEZE_STATE"),
        "pledge_shares": amount(row["PF_NUM"], f"{what} PF_NUM"),
        "warning_line": price(row.get("WARNING_LINE"), f"{what} WARNING_LINE"),
        "open_line": price(row.get("OPENLINE"), f"{what} OPENLINE"),
        **ratios,
    }
