"""Convertible bonds: their terms (RPT_BOND_CB_LIST) and the list of those that trade (clist b:MK0354)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.quotes.fields import (
    columns_of,
    fields,
    read_day,
    read_price,
    read_ratio,
    read_tally,
    read_text,
)
from resources.upstreams.eastmoney.quotes.lists import listed_rows
from resources.upstreams.eastmoney.reports.by_notice import day_or_none, text_or_none
from resources.upstreams.eastmoney.reports.gateway import EVERY_COLUMN, Report, code_of
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, price, promised, some_of

LIST = "b:MK0354"
TERM_COLUMNS: dict[str, str] = {
    **texts("code name stock_code stock_name rating list_date delist_date value_date maturity_date coupons"),
    **numbers("issue_size_yi initial_convert_price"),
}
BOND_FIELDS = (
    *fields(read_price, "f2 price f229 stock_price f235 convert_price f236 convert_value"),
    *fields(read_price, "f227 pure_bond_value f239 putback_price f240 force_redeem_price"),
    *fields(read_price, "f241 maturity_redeem_price"),
    *fields(read_ratio, "f3 change_pct f230 stock_change_pct f237 premium_pct"),
    *fields(read_tally, "f6 amount"),
    *fields(read_text, "f232 stock_code f234 stock_name"),
    *fields(read_day, "f26 list_date f297 trade_date"),
)
BOND_COLUMNS = columns_of(BOND_FIELDS, "symbol code market sec_type name") | {"is_suspended": "b"}
_LARGEST_YI = 2_000.0
_ERROR_RESPONSE = 100.0
_SLACK = 2.0
"""Factor by which conversion value and price may differ: a shifted column or another unit is farther off."""


def terms_report() -> Report:
    """The terms of every convertible bond that was ever issued."""
    sort = ("-PUBLIC_START_DATE", "SECURITY_CODE")
    return Report("RPT_BOND_CB_LIST", EVERY_COLUMN, (), sort, key=("code",))


def term_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `TERM_COLUMNS`: CNY, 100m CNY. PayloadError for implausible terms."""
    return frame([_term(row) for row in rows], TERM_COLUMNS)


def _term(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE",), "bond")
    some_of(row, ("CONVERT_STOCK_CODE", "RATING"), "bond")
    code = code_of(row["SECURITY_CODE"], "bond")
    what = f"bond {code}"

    def day(name: str) -> str | None:
        return day_or_none(row.get(name), f"{what} {name}")

    def text(name: str) -> str | None:
        return text_or_none(row.get(name), f"{what} {name}")

    size = amount(row.get("ACTUAL_ISSUE_SCALE"), f"{what} ACTUAL_ISSUE_SCALE")
    if size > _LARGEST_YI:
        raise PayloadError(f"{what}: ACTUAL_ISSUE_SCALE {size} is beyond 100m CNY: another unit")
    stock = text("CONVERT_STOCK_CODE")
    return {
        "code": code,
        "name": text("SECURITY_NAME_ABBR"),
        "stock_code": None if stock is None else code_of(stock, f"{what} stock"),
        "stock_name": text("SECURITY_SHORT_NAME"),
        "rating": text("RATING"),
        "list_date": day("LISTING_DATE"),
        "delist_date": day("DELIST_DATE"),
        "value_date": day("VALUE_DATE"),
        "maturity_date": day("EXPIRE_DATE"),
        "coupons": text("INTEREST_RATE_EXPLAIN"),
        "issue_size_yi": size,
        "initial_convert_price": price(row.get("INITIAL_TRANSFER_PRICE"), f"{what} INITIAL_TRANSFER_PRICE"),
    }


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
