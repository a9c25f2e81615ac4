"""Trading by security and date, reports of the data centre: margin trading (RPTA_WEB_RZRQ_GGMX), block trades
(大宗交易, RPT_DATA_BLOCKTRADE), and ratios and caps (RPT_VALUEANALYSIS_DET)."""

import math
from functools import partial
from typing import Any

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import (
    Dated,
)
from resources.upstreams.parsing.frames import numbers
from resources.upstreams.parsing.payload import AMT, amount, check_unit, number, price
from resources.upstreams.parsing.rows import (
    Table,
    code_of,
    day_of,
    may,
    must,
    needed,
    security_code,
    text_or_none,
)

# -- margin trading

_RATIO_SLACK = 0.01


def _check_margin(row: dict[str, Any], what: str) -> None:
    """The identities of the report: they fail when a column is shifted or in another unit."""
    gap = abs(round(row["rzye"] + row["rqye"], AMT) - row["rzrqye"])
    if not math.isnan(gap) and gap > 1:
        raise PayloadError(f"{what}: RZYE + RQYE is not RZRQYE by {gap:.2f}")
    check_unit(
        shares=row["loan_volume"],
        amount_cny=row["rqye"],
        low=row["close"],
        high=row["close"],
        what=f"{what} RQYE / RQYL",
    )
    stated, float_cap = row["fin_ratio_pct"], row["_float_cap"]
    if float_cap > 0 and not math.isnan(stated):
        meant = row["rzye"] / float_cap * 100
        if abs(stated - meant) > _RATIO_SLACK + 0.01 * abs(meant):
            raise PayloadError(f"{what}: RZYEZB {stated} is not RZYE / SZ = {meant:.4f} percent")


MARGIN = Table(
    "margin",
    must(day_of, DATE="date"),
    must(code_of, SCODE="code"),
    may(text_or_none, SECNAME="name"),
    must(needed(amount), RZYE="rzye"),
    may(
        amount,
        RZMRE="rzmre",
        RZCHE="rzche",
        RQYE="rqye",
        RQYL="loan_volume",
        RQMCL="rqmcl",
        RQCHL="rqchl",
        RZRQYE="rzrqye",
    ),
    may(number, RZYEZB="fin_ratio_pct", ZDF="change_pct"),
    may(price, SPJ="close"),
    may(amount, SZ="_float_cap"),
    check=_check_margin,
)
"""CNY, shares, percent."""


margin_report = Dated("RPTA_WEB_RZRQ_GGMX", MARGIN, "DATE", "DATE SCODE", "code date", code="SCODE")

# -- block trades. Equal lines of one day are different deals: the promised columns identify one; the close is
# not among them, since it is the stock's.

_A_SHARES = "1"
_SLACK = 0.01


def _check_deal(row: dict[str, Any], what: str) -> None:
    paid, close = row["price"], row["close"]
    if abs(paid * row["volume"] - row["amount"]) > 1 + _SLACK * row["amount"]:
        raise PayloadError(f"{what}: DEAL_PRICE x DEAL_VOLUME is not DEAL_AMT: another unit")
    if close > 0:
        # The scale of the report's own PREMIUM_RATIO is not documented.
        row["premium_pct"] = round((paid / close - 1) * 100, 4) + 0.0


BLOCK_TRADES = Table(
    "block trade",
    must(code_of, SECURITY_CODE="code"),
    must(day_of, TRADE_DATE="date"),
    must(needed(price), DEAL_PRICE="price"),
    may(price, CLOSE_PRICE="close"),
    must(needed(amount), DEAL_VOLUME="volume", DEAL_AMT="amount"),
    must(text_or_none, BUYER_NAME="buyer", SELLER_NAME="seller"),
    check=_check_deal,
    more=numbers("premium_pct"),
)
"""CNY and shares; `premium_pct` percent of the close."""


block_trades_report = Dated(
    "RPT_DATA_BLOCKTRADE",
    BLOCK_TRADES,
    "TRADE_DATE",
    "TRADE_DATE SECURITY_CODE DEAL_PRICE DEAL_VOLUME BUYER_NAME SELLER_NAME",
    by_name=True,
    where=(f"(SECURITY_TYPE_WEB={_A_SHARES})",),
)
"""Deals in A shares. Equal lines are ordinary and cannot be distinguished, so duplicates are not checked; the
count of the report is."""

# -- ratios and caps

_wan = partial(amount, scale=1e-4)
_WAN = 1e-4
_FAR = 20.0
"""A company with B or H shares is worth another multiple of its close: a wrong unit is a factor of 100."""


def _check_valuation(row: dict[str, Any], what: str) -> None:
    worth = row["price"] * row["total_shares"] * _WAN
    if worth > 0 and row["total_market_cap"] > 0 and not 1 / _FAR < row["total_market_cap"] / worth < _FAR:
        raise PayloadError(f"{what}: TOTAL_MARKET_CAP is not CLOSE_PRICE x TOTAL_SHARES: another unit")


_FIGURES = (
    *may(price, CLOSE_PRICE="price"),
    *may(_wan, TOTAL_MARKET_CAP="total_market_cap", NOTLIMITED_MARKETCAP_A="float_market_cap"),
    *may(amount, TOTAL_SHARES="total_shares"),
    *may(
        number,
        PE_TTM="pe_ttm",
        PE_LAR="pe_static",
        PB_MRQ="pb",
        PS_TTM="ps_ttm",
        PCF_OCF_TTM="pcf_ttm",
        PEG_CAR="peg",
    ),
)
VALUATIONS = Table(
    "valuations",
    must(security_code, SECURITY_CODE="code"),
    must(day_of, TRADE_DATE="date"),
    _FIGURES,
    check=_check_valuation,
    some=[one.wire for one in _FIGURES],
    of="valuation",
)
"""CNY, 10k CNY of caps, shares; ratios as published, also below zero."""


valuations_report = Dated(
    "RPT_VALUEANALYSIS_DET", VALUATIONS, "TRADE_DATE", "SECURITY_CODE TRADE_DATE", "code date", by_name=True
)
