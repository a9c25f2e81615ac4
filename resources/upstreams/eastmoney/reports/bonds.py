"""Convertible bonds: their terms (RPT_BOND_CB_LIST) and the list of those that trade (clist b:MK0354)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN, Report
from resources.upstreams.eastmoney.quotes import fields
from resources.upstreams.eastmoney.quotes.lists import listed_rows
from resources.upstreams.parsing.frames import texts
from resources.upstreams.parsing.payload import amount, price
from resources.upstreams.parsing.rows import Table, code_of, day_or_none, kinds_of, may, must, text_or_none

LIST = "b:MK0354"
BOND_FIELDS = (
    *may(fields.read_price, f2="price", f229="stock_price", f235="convert_price", f236="convert_value"),
    *may(fields.read_price, f227="pure_bond_value", f239="putback_price", f240="force_redeem_price"),
    *may(fields.read_price, f241="maturity_redeem_price"),
    *may(fields.read_ratio, f3="change_pct", f230="stock_change_pct", f237="premium_pct"),
    *may(fields.read_tally, f6="amount"),
    *may(fields.read_text, f232="stock_code", f234="stock_name"),
    *may(fields.read_day, f26="list_date", f297="trade_date"),
)
BOND_COLUMNS = texts("symbol code market sec_type name") | kinds_of(BOND_FIELDS) | {"is_suspended": "b"}
_LARGEST_YI = 2_000.0
_ERROR_RESPONSE = 100.0
_SLACK = 2.0
"""Factor by which conversion value and price may differ: a shifted column or another unit is farther off."""


def _stock(value: Any, what: str) -> str | None:
    stock = text_or_none(value, what)
    return None if stock is None else code_of(stock, what)


def _check_terms(row: dict[str, Any], what: str) -> None:
    size = row["issue_size_yi"]
    if size > _LARGEST_YI:
        raise PayloadError(f"{what}: ACTUAL_ISSUE_SCALE {size} is beyond 100m CNY: another unit")


TERMS = Table(
    "bond",
    must(code_of, SECURITY_CODE="code"),
    may(text_or_none, SECURITY_NAME_ABBR="name", SECURITY_SHORT_NAME="stock_name", RATING="rating"),
    may(_stock, CONVERT_STOCK_CODE="stock_code"),
    may(day_or_none, LISTING_DATE="list_date", DELIST_DATE="delist_date", VALUE_DATE="value_date"),
    may(day_or_none, EXPIRE_DATE="maturity_date"),
    may(text_or_none, INTEREST_RATE_EXPLAIN="coupons"),
    may(amount, ACTUAL_ISSUE_SCALE="issue_size_yi"),
    may(price, INITIAL_TRANSFER_PRICE="initial_convert_price"),
    check=_check_terms,
    some=("CONVERT_STOCK_CODE", "RATING"),
)
"""CNY, 100m CNY."""


def terms_report() -> Report:
    """The terms of every convertible bond that was ever issued."""
    sort = ("-PUBLIC_START_DATE", "SECURITY_CODE")
    return Report("RPT_BOND_CB_LIST", EVERY_COLUMN, (), sort, key=("code",))


def bond_rows(raws: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of the list; columns `BOND_COLUMNS`: CNY per 100 CNY of bond, percent. PayloadError when a
    conversion value is not that of its prices."""
    rows = listed_rows(raws, BOND_FIELDS, BOND_COLUMNS, "bond list")
    for one in rows.to_dict("records"):
        meant = (
            _ERROR_RESPONSE / one["convert_price"] * one["stock_price"]
            if one["convert_price"] > 0
            else math.nan
        )
        stated = one["convert_value"]
        if meant > 0 and stated > 0 and not 1 / _SLACK <= stated / meant <= _SLACK:
            raise PayloadError(
                f"bond list {one['code']}: f236 {stated} is not 100 / f235 x f229 = {meant:.4f}"
            )
    return rows
