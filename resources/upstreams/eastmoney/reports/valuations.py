"""Ratios and caps of every stock by trade date, a report of the data centre (RPT_VALUEANALYSIS_DET)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.by_notice import security_code
from resources.upstreams.eastmoney.reports.gateway import Report, among, day_of, on_day
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, price, promised, some_of

VALUATION_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("price pe_ttm pe_static pb ps_ttm pcf_ttm peg total_market_cap float_market_cap total_shares"),
}
"""CNY, 10k CNY of caps, shares; ratios as published, also below zero."""
_RATIOS = {"pe_ttm": "PE_TTM", "pe_static": "PE_LAR", "pb": "PB_MRQ", "ps_ttm": "PS_TTM",
           "pcf_ttm": "PCF_OCF_TTM", "peg": "PEG_CAR"}  # fmt: skip
_FIELDS = ("SECURITY_CODE", "TRADE_DATE", "CLOSE_PRICE", "TOTAL_MARKET_CAP", "NOTLIMITED_MARKETCAP_A",
           "TOTAL_SHARES", *_RATIOS.values())  # fmt: skip
_WAN = 1e-4
_FAR = 20.0
"""A company with B or H shares is worth another multiple of its close: a wrong unit is a factor of 100."""


def valuations_report(since: str, until: str, codes: Sequence[str] | None = None) -> Report:
    """All stocks between two trade dates, or some of them."""
    days = (on_day("TRADE_DATE", since, ">="), on_day("TRADE_DATE", until, "<="))
    where = days if codes is None else (*days, among("SECURITY_CODE", codes))
    sort = ("SECURITY_CODE", "TRADE_DATE")
    return Report("RPT_VALUEANALYSIS_DET", _FIELDS, where, sort=sort, key=("code", "date"))


def valuation_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `VALUATION_COLUMNS`. PayloadError when close x shares is nowhere near the cap."""
    return frame([_row(row) for row in rows], VALUATION_COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "TRADE_DATE"), "valuations")
    some_of(row, _FIELDS[2:], "valuations")
    code = security_code(row["SECURITY_CODE"], "valuations")
    what = f"valuation {code}"
    made: dict[str, Any] = {
        "code": code,
        "date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
        "price": price(row.get("CLOSE_PRICE"), f"{what} CLOSE_PRICE"),
        "total_market_cap": amount(row.get("TOTAL_MARKET_CAP"), f"{what} TOTAL_MARKET_CAP", scale=_WAN),
        "float_market_cap": amount(
            row.get("NOTLIMITED_MARKETCAP_A"), f"{what} NOTLIMITED_MARKETCAP_A", scale=_WAN
        ),
        "total_shares": amount(row.get("TOTAL_SHARES"), f"{what} TOTAL_SHARES"),
        **{name: number(row.get(wire), f"{what} {wire}") for name, wire in _RATIOS.items()},
    }
    worth = made["price"] * made["total_shares"] * _WAN
    if worth > 0 and made["total_market_cap"] > 0 and not 1 / _FAR < made["total_market_cap"] / worth < _FAR:
        raise PayloadError(f"{what}: TOTAL_MARKET_CAP is not CLOSE_PRICE x TOTAL_SHARES: another unit")
    return made
